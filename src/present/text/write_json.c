/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_json.c - writes {"schema":...,"rows":[{KEY:...,"samples":N,"period":N}...]}.  New
 * members can be added under the same schema number; existing names and meanings must not
 * change. */
#include <errno.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "compare/interval.h"
#include "present/lines/cell_cache.h"
#include "present/lines/columns.h"
#include "present/lines/json.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"
#include "present/text/quality_text.h"
#include "present/text/text_writers.h"

static const char schema[] = "oprofile-report/1";

/* Rows are built from cached fragments: member names, and texts of keys with few values. */
struct write_json_rows {
	struct profile *p;
	bool events_apart;
	struct buf event; /* the text {"event": with which each row starts */
	struct buf names[KEY_ID_COUNT]; /* ,"key": */
	struct cell_cache of[KEY_ID_COUNT];
	struct cell_cache of_event;
	struct buf row;
	struct ratio_groups ratios;
	const char *const *ratio_texts;
	bool failed; /* a fragment could not be formatted */
};

static void write_json_put(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void write_json_put_name(struct buf *out, const char *before, const char *name)
{
	write_json_put(out, before);
	json_put_string(out, name, strlen(name));
	buf_put_u8(out, ':');
}

static void rows_begin(struct write_json_rows *r, struct profile *p, bool events_apart)
{
	*r = (struct write_json_rows){ .p = p, .events_apart = events_apart };
	cell_cache_init(&r->of_event, p->events.nr);
	write_json_put_name(&r->event, "{", "event");
	for (size_t k = 0; k < p->nr_keys; k++) {
		write_json_put_name(&r->names[k], k || events_apart ? "," : "{",
				    p->options.keys->keys.at[k].typed);
		cell_cache_init(&r->of[k], profile_nr_values(p, k));
		r->failed |= r->names[k].failed;
	}
	r->failed |= r->event.failed;
}

static void rows_end(struct write_json_rows *r)
{
	for (size_t k = 0; k < r->p->nr_keys; k++) {
		buf_done(&r->names[k]);
		cell_cache_done(&r->of[k]);
	}
	cell_cache_done(&r->of_event);
	buf_done(&r->event);
	buf_done(&r->row);
	ratio_groups_done(&r->ratios);
}

static void put_cached(struct buf *out, struct cell_cache *cache, uint64_t value,
		       const char *text)
{
	size_t from = out->len;

	json_put_string(out, text, strlen(text));
	if (!out->failed)
		cell_cache_keep(cache, value, out->data + from, out->len - from);
}

static void write_json_put_event(struct write_json_rows *r, uint32_t event)
{
	if (!cell_cache_put(&r->of_event, event, &r->row))
		put_cached(&r->row, &r->of_event, event,
			   profile_event_name(r->p, event));
}

static void write_json_put_value(struct write_json_rows *r, const struct line *line,
				 size_t k)
{
	const struct key_row *key = r->p->options.keys->keys.at[k].row;
	uint64_t value = profile_value(r->p, line->group, k);

	if (key->id == KEY_EVENT) {
		write_json_put_event(r, r->p->rows.at[line->number].event);
		return;
	}
	if (cell_cache_put(&r->of[k], value, &r->row))
		return;
	if (key->kind == KEY_TEXT) {
		put_cached(&r->row, &r->of[k], value,
			   profile_text(r->p, line->group, k));
		return;
	}
	/* Addresses are written as strings that need no escapes. */
	if (key->kind == KEY_HEX)
		buf_put_u8(&r->row, '"');
	column_put_value(&r->row, r->p, line->group, k);
	if (key->kind == KEY_HEX)
		buf_put_u8(&r->row, '"');
}

/* Writes ,"ratios":{"A/B":0.01,"B/A":null} */
static void write_json_put_ratios(struct write_json_rows *r, uint32_t group)
{
	for (size_t i = 0; i < r->ratios.nr_ratios; i++) {
		size_t from;

		write_json_put_name(&r->row, i ? "," : ",\"ratios\":{",
				    r->ratio_texts[i]);
		from = r->row.len;
		ratio_group_put(&r->ratios, group, i, &r->row);
		if (r->row.len == from)
			write_json_put(&r->row, "null");
	}
	if (r->ratios.nr_ratios)
		buf_put_u8(&r->row, '}');
}

static void write_json_put_number(struct buf *out, const char *name, double value)
{
	char text[32];

	write_json_put_name(out, ",", name);
	(void)snprintf(text, sizeof(text), "%.6g", value);
	write_json_put(out, text);
}

/* Writes ,"percent":2.5,"percent_low":2,"percent_high":3.1 */
static void write_json_put_limits(struct write_json_rows *r,
				  const struct report_lines *lines,
				  const struct line *line)
{
	const uint64_t whole =
		r->p->events.at[r->p->rows.at[line->number].event].samples;
	const struct limits *l = &lines->limits[line->number];

	write_json_put_number(&r->row, "percent", percent_of(line->counts[0], whole));
	write_json_put_number(&r->row, "percent_low", 100 * l->low);
	write_json_put_number(&r->row, "percent_high", 100 * l->high);
}

static int write_json_put_row(struct json *j, struct write_json_rows *r,
			      const struct report_lines *lines, const struct line *line)
{
	const struct profile_row *row = &r->p->rows.at[line->number];
	struct profile_sums sums =
		profile_sums(r->p, row->event, line->counts[0], row->period);
	bool empty = !r->p->nr_keys && !r->events_apart;

	buf_clear(&r->row);
	if (r->events_apart) {
		buf_put(&r->row, r->event.data, r->event.len);
		write_json_put_event(r, row->event);
	}
	for (size_t k = 0; k < r->p->nr_keys; k++) {
		buf_put(&r->row, r->names[k].data, r->names[k].len);
		write_json_put_value(r, line, k);
	}
	write_json_put_name(&r->row, empty ? "{" : ",", "samples");
	buf_put_decimal(&r->row, sums.samples);
	write_json_put_name(&r->row, ",", "period");
	buf_put_decimal(&r->row, sums.period);
	if (lines->limits)
		write_json_put_limits(r, lines, line);
	if (lines->inclusive) {
		sums = profile_sums(r->p, row->event, lines->inclusive[line->number],
				    lines->inclusive_periods[line->number]);
		write_json_put_name(&r->row, ",", "total_samples");
		buf_put_decimal(&r->row, sums.samples);
		write_json_put_name(&r->row, ",", "total_period");
		buf_put_decimal(&r->row, sums.period);
	}
	write_json_put_ratios(r, line->group);
	buf_put_u8(&r->row, '}');
	if (r->row.failed || r->failed)
		return -ENOMEM;
	json_raw(j, r->row.data, r->row.len);
	return 0;
}

static void write_json_put_events(struct json *j, const struct profile *p,
				  const struct report_lines *lines)
{
	json_name(j, "events");
	json_begin_array(j);
	for (size_t i = 0; i < lines->events.nr; i++) {
		const struct profile_event *e = &p->events.at[lines->events.at[i]];
		const struct profile_sums sums =
			profile_sums(p, lines->events.at[i], e->samples, e->period);

		json_begin_object(j);
		json_member_text(j, "event", strtab_get(&p->strings, e->name));
		json_member_u64(j, "count", e->count);
		json_member_u64(j, "frequency", profile_event_hz(e));
		if (e->least_hz < e->most_hz)
			json_member_u64(j, "frequency_least", e->least_hz);
		json_member_u64(j, "samples", sums.samples);
		json_member_u64(j, "period", sums.period);
		json_end_object(j);
	}
	json_end_array(j);
}

static void write_json_put_confidence(struct json *j, const struct profile *p,
				      const struct report_lines *lines)
{
	char level[32];

	json_name(j, "confidence");
	json_begin_object(j);
	json_name(j, "level");
	json_raw(j, level,
		 (size_t)snprintf(level, sizeof(level), "%.10g", lines->confidence));
	json_member_u64(j, "blocks", p->nr_blocks);
	json_end_object(j);
}

static int write_json_put_rows(struct json *j, struct profile *p,
			       const struct report_lines *lines,
			       const struct present_options *options, bool events_apart)
{
	struct write_json_rows rows;
	int r;

	rows_begin(&rows, p, events_apart);
	rows.ratio_texts = options->ratios;
	r = ratio_groups_make(p, options->ratios, options->nr_ratios, &rows.ratios);
	json_name(j, "rows");
	json_begin_array(j);
	for (size_t i = 0; !r && i < lines->all.nr; i++)
		r = write_json_put_row(j, &rows, lines, &lines->all.at[i]);
	json_end_array(j);
	rows_end(&rows);
	return r;
}

int write_json(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err)
{
	struct json j = { .out = out };
	struct report_lines lines;
	bool events_apart;
	int r;

	events_apart = p->events.nr > 1 && keys_find(p->options.keys, KEY_EVENT) < 0;
	r = lines_of_rows(p, options, events_apart, &lines, err);
	if (r)
		return r;
	json_begin_object(&j);
	json_name(&j, "schema");
	json_text(&j, schema);
	if (lines.limits)
		write_json_put_confidence(&j, p, &lines);
	write_json_put_events(&j, p, &lines);
	r = write_json_put_rows(&j, p, &lines, options, events_apart);
	if (!r && options->quality)
		r = quality_write_json(&j, p);
	if (!r) {
		json_end_object(&j);
		fputc('\n', out);
	}
	lines_done(&lines);
	return r ? err_set(err, r, "out of memory") : 0;
}
