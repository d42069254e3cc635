/* write_json.c - {"schema":...,"rows":[{KEY:...,"samples":N,"period":N}...]}.
 * Members may be added; the names and meanings of those that exist stay with the schema's
 * number. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "present/columns.h"
#include "present/json.h"
#include "present/lines.h"
#include "present/quality_text.h"
#include "present/writers.h"

static const char schema[] = "oprofile-report/1";

static int put_value(struct json *j, struct profile *p, const struct line *line,
		     size_t k)
{
	const struct key_row *key = p->options.keys->keys.at[k].row;
	struct buf value = { 0 };
	int r;

	if (key->id == KEY_EVENT) {
		json_text(j, profile_event_name(p, p->rows.at[line->number].event));
		return 0;
	}
	column_put_value(&value, p, line->group, k);
	buf_put_u8(&value, 0);
	if (!value.failed) {
		const char *text = (const char *)value.data;

		if (key->kind == KEY_INTEGER || key->kind == KEY_TIMES)
			json_number(j, text);
		else
			json_text_len(j, text, value.len - 1);
	}
	r = value.failed ? -ENOMEM : 0;
	buf_done(&value);
	return r;
}

static int put_row(struct json *j, struct profile *p, const struct line *line,
		   bool events_apart)
{
	const struct profile_row *row = &p->rows.at[line->number];

	json_begin_object(j);
	if (events_apart) {
		json_name(j, "event");
		json_text(j, profile_event_name(p, row->event));
	}
	for (size_t k = 0; k < p->nr_keys; k++) {
		json_name(j, p->options.keys->keys.at[k].typed);
		if (put_value(j, p, line, k))
			return -ENOMEM;
	}
	json_name(j, "samples");
	json_u64(j, line->counts[0]);
	json_name(j, "period");
	json_u64(j, row->period);
	json_end_object(j);
	return 0;
}

static void put_events(struct json *j, const struct profile *p,
		       const struct lines *lines)
{
	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < lines->events.nr; i++) {
		const struct profile_event *e = &p->events.at[lines->events.at[i]];

		json_begin_object(j);
		json_name(j, "event");
		json_text(j, strtab_get(&p->strings, e->name));
		json_name(j, "count");
		json_u64(j, e->count);
		json_name(j, "frequency");
		json_u64(j, e->frequency_hz);
		json_name(j, "samples");
		json_u64(j, e->samples);
		json_name(j, "period");
		json_u64(j, e->period);
		json_end_object(j);
	}
	json_end_array(j);
}

static int put_rows(struct json *j, struct profile *p, const struct lines *lines,
		    bool events_apart)
{
	json_name(j, "rows");
	json_begin_array(j);
	for (size_t i = 0; i < lines->all.nr; i++) {
		if (put_row(j, p, &lines->all.at[i], events_apart))
			return -ENOMEM;
	}
	json_end_array(j);
	return 0;
}

int write_json(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err)
{
	struct json j = { .out = out };
	struct lines lines;
	bool events_apart;
	int r;

	events_apart = p->events.nr > 1 && keys_find(p->options.keys, KEY_EVENT) < 0;
	r = lines_of_rows(p, options, events_apart, &lines, err);
	if (r)
		return r;
	json_begin_object(&j);
	json_name(&j, "schema");
	json_text(&j, schema);
	put_events(&j, p, &lines);
	r = put_rows(&j, p, &lines, events_apart);
	if (!r && options->quality)
		r = quality_write_json(&j, p);
	if (!r) {
		json_end_object(&j);
		fputc('\n', out);
	}
	lines_done(&lines);
	return r ? err_set(err, r, "out of memory") : 0;
}
