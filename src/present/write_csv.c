/* write_csv.c - RFC 4180: the keys as typed, then samples, period, percent. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "present/columns.h"
#include "present/csv.h"
#include "present/lines.h"
#include "present/percent.h"
#include "present/quality_text.h"
#include "present/writers.h"

void csv_put_field(struct buf *out, const char *text, size_t len)
{
	bool quoted = false;

	for (size_t i = 0; i < len; i++)
		quoted |= !!strchr(",\"\r\n", text[i]);
	if (!quoted) {
		buf_put(out, text, len);
		return;
	}
	buf_put_u8(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			buf_put_u8(out, '"');
		buf_put_u8(out, (uint8_t)text[i]);
	}
	buf_put_u8(out, '"');
}

static void put_text(struct buf *out, const char *text)
{
	csv_put_field(out, text, strlen(text));
	buf_put_u8(out, ',');
}

static void put_header(struct buf *out, const struct profile *p, bool events_apart)
{
	static const char rest[] = "samples,period,percent\r\n";

	if (events_apart)
		put_text(out, "event");
	for (size_t k = 0; k < p->nr_keys; k++)
		put_text(out, p->options.keys->keys.at[k].typed);
	buf_put(out, rest, sizeof(rest) - 1);
}

static void put_line(struct buf *out, struct profile *p, const struct line *line,
		     bool events_apart)
{
	const struct profile_row *row = &p->rows.at[line->number];
	char numbers[96];
	struct buf value = { 0 };
	int len;

	if (events_apart)
		put_text(out, profile_event_name(p, row->event));
	for (size_t k = 0; k < p->nr_keys; k++) {
		buf_clear(&value);
		if (p->options.keys->keys.at[k].row->id == KEY_EVENT) {
			put_text(out, profile_event_name(p, row->event));
			continue;
		}
		column_put_value(&value, p, line->group, k);
		csv_put_field(out, (const char *)value.data, value.len);
		buf_put_u8(out, ',');
		out->failed |= value.failed;
	}
	buf_done(&value);
	len = snprintf(numbers, sizeof(numbers), "%" PRIu64 ",%" PRIu64 ",%.10g\r\n",
		       line->counts[0], row->period,
		       percent_of(line->counts[0], p->events.at[row->event].samples));
	buf_put(out, numbers, (size_t)len);
}

int write_csv(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err)
{
	struct lines lines;
	struct buf text = { 0 };
	bool events_apart;
	int r;

	events_apart = p->events.nr > 1 && keys_find(p->options.keys, KEY_EVENT) < 0;
	r = lines_of_rows(p, options, events_apart, &lines, err);
	if (r)
		return r;
	if (!options->no_header)
		put_header(&text, p, events_apart);
	for (size_t i = 0; i < lines.all.nr && !text.failed; i++) {
		put_line(&text, p, &lines.all.at[i], events_apart);
		if (text.len < 65536)
			continue;
		fwrite(text.data, 1, text.len, out);
		buf_clear(&text);
	}
	if (text.failed)
		r = err_set(err, -ENOMEM, "out of memory");
	else if (text.len)
		fwrite(text.data, 1, text.len, out);
	buf_done(&text);
	lines_done(&lines);
	return r;
}
