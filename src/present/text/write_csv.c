/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_csv.c - writes CSV (RFC 4180): the keys in their given order, then samples, period,
 * percent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/safe_text.h"
#include "base/utf8.h"
#include "compare/interval.h"
#include "present/lines/cell_cache.h"
#include "present/lines/columns.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"
#include "present/text/csv.h"
#include "present/text/quality_text.h"
#include "present/text/text_writers.h"

enum {
	WRITTEN_AT_ONCE = 65536,
	SHARES = 64, /* cached percentages of small counts */
	SHARE_MAX = 31,
	AHEAD = 8 /* number of lines to prefetch */
};

/* Replaces bytes that are not UTF-8 with U+FFFD, as in JSON. */
static void put_utf8(struct buf *out, const char *text, size_t len)
{
	while (len) {
		size_t valid = utf8_valid_len(text, len);

		safe_text_put(out, text, valid, true);
		text += valid;
		len -= valid;
		if (!len)
			return;
		buf_put(out, "\xef\xbf\xbd", 3);
		text++;
		len--;
	}
}

static void put_quoted(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len;

	buf_put_u8(out, '"');
	while (text < end) {
		const char *quote = memchr(text, '"', (size_t)(end - text));
		const char *stop = quote ? quote + 1 : end;

		put_utf8(out, text, (size_t)(stop - text));
		if (quote)
			buf_put_u8(out, '"');
		text = stop;
	}
	buf_put_u8(out, '"');
}

/* Appends a field.  Line ends in it are escaped, so each line of the file is a row, and only
 * commas and quotes need quoting. */
void csv_put_field(struct buf *out, const char *text, size_t len)
{
	if (!memchr(text, ',', len) && !memchr(text, '"', len))
		put_utf8(out, text, len);
	else
		put_quoted(out, text, len);
}

static void write_csv_put_text(struct buf *out, const char *text)
{
	csv_put_field(out, text, strlen(text));
	buf_put_u8(out, ',');
}

static void write_csv_put_header(struct buf *out, const struct profile *p,
				 bool events_apart, bool inclusive,
				 const struct present_options *options)
{
	static const char rest[] = "samples,period,percent";
	static const char limits[] = ",percent_low,percent_high";
	static const char more[] = ",total_samples,total_period,total_percent";

	if (events_apart)
		write_csv_put_text(out, "event");
	for (size_t k = 0; k < p->nr_keys; k++)
		write_csv_put_text(out, p->options.keys->keys.at[k].typed);
	buf_put(out, rest, sizeof(rest) - 1);
	if (options->confidence > 0)
		buf_put(out, limits, sizeof(limits) - 1);
	if (inclusive)
		buf_put(out, more, sizeof(more) - 1);
	for (size_t i = 0; i < options->nr_ratios; i++) {
		buf_put_u8(out, ',');
		csv_put_field(out, options->ratios[i], strlen(options->ratios[i]));
	}
	buf_put(out, "\r\n", 2);
}

/* A cached percentage. */
struct share {
	uint64_t part, whole;
	char text[SHARE_MAX];
	uint8_t len; /* 0: unused */
};

/* Caches of repeated cells: the texts of keys, and percentages of small counts. */
struct csv {
	struct profile *p;
	bool events_apart;
	struct cell_cache caches[KEY_ID_COUNT];
	struct buf value;
	struct share shares[SHARES];
	struct ratio_groups ratios;
};

static void write_csv_put_key(struct buf *out, struct csv *c, const struct line *line,
			      size_t k)
{
	uint64_t value = profile_value(c->p, line->group, k);
	size_t from = out->len;

	if (cell_cache_put(&c->caches[k], value, out))
		return;
	buf_clear(&c->value);
	column_put_value(&c->value, c->p, line->group, k);
	csv_put_field(out, (const char *)c->value.data, c->value.len);
	buf_put_u8(out, ',');
	out->failed |= c->value.failed;
	if (!out->failed)
		cell_cache_keep(&c->caches[k], value, out->data + from,
				out->len - from);
}

static void write_csv_put_share(struct buf *out, struct csv *c, uint64_t part,
				uint64_t whole)
{
	struct share *s = &c->shares[(part ^ whole * 7) % SHARES];

	if (!s->len || part != s->part || whole != s->whole) {
		s->part = part;
		s->whole = whole;
		s->len = (uint8_t)snprintf(s->text, sizeof(s->text), "%.10g",
					   percent_of(part, whole));
	}
	buf_put(out, s->text, s->len);
}

/* Prefetches rows: the lines have another order than the rows. */
static void write_csv_look_ahead(const struct profile *p,
				 const struct report_lines *lines, size_t i)
{
	const struct line *line;

	if (lines->all.nr - i <= 2 * AHEAD)
		return;
	line = &lines->all.at[i + 2 * AHEAD];
	__builtin_prefetch(&p->rows.at[line->number]);
	__builtin_prefetch(&p->groups.at[line->group]);
	line = &lines->all.at[i + AHEAD];
	for (unsigned int side = 0; side < GROUP_SIDES; side++) {
		const struct tuples *t = &p->tuples[side];
		uint32_t tuple = p->groups.at[line->group].tuple[side];

		if (t->width)
			__builtin_prefetch(&t->values.at[tuple * t->width]);
	}
}

static void write_csv_put_counts(struct buf *out, struct csv *c, uint32_t event,
				 uint64_t samples, uint64_t period)
{
	const struct profile_sums sums = profile_sums(c->p, event, samples, period);

	buf_put_decimal(out, sums.samples);
	buf_put_u8(out, ',');
	buf_put_decimal(out, sums.period);
	buf_put_u8(out, ',');
	write_csv_put_share(out, c, samples, c->p->events.at[event].samples);
}

static void write_csv_put_limits(struct buf *out, const struct limits *l)
{
	char text[64];
	int len =
		snprintf(text, sizeof(text), ",%.6g,%.6g", 100 * l->low, 100 * l->high);

	buf_put(out, text, (size_t)len);
}

static void write_csv_put_line(struct buf *out, struct csv *c,
			       const struct report_lines *lines,
			       const struct line *line)
{
	struct profile *p = c->p;
	const struct profile_row *row = &p->rows.at[line->number];

	if (c->events_apart)
		write_csv_put_text(out, profile_event_name(p, row->event));
	for (size_t k = 0; k < p->nr_keys; k++) {
		if (p->options.keys->keys.at[k].row->id == KEY_EVENT)
			write_csv_put_text(out, profile_event_name(p, row->event));
		else
			write_csv_put_key(out, c, line, k);
	}
	write_csv_put_counts(out, c, row->event, line->counts[0], row->period);
	if (lines->limits)
		write_csv_put_limits(out, &lines->limits[line->number]);
	if (lines->inclusive) {
		buf_put_u8(out, ',');
		write_csv_put_counts(out, c, row->event, lines->inclusive[line->number],
				     lines->inclusive_periods[line->number]);
	}
	for (size_t i = 0; i < c->ratios.nr_ratios; i++) {
		buf_put_u8(out, ',');
		ratio_group_put(&c->ratios, line->group, i, out);
	}
	buf_put(out, "\r\n", 2);
}

static void csv_begin(struct csv *c, struct profile *p)
{
	*c = (struct csv){ .p = p };
	c->events_apart = p->events.nr > 1 && keys_find(p->options.keys, KEY_EVENT) < 0;
	for (size_t k = 0; k < p->nr_keys; k++)
		cell_cache_init(&c->caches[k], profile_nr_values(p, k));
}

static void csv_end(struct csv *c)
{
	for (size_t k = 0; k < c->p->nr_keys; k++)
		cell_cache_done(&c->caches[k]);
	buf_done(&c->value);
	ratio_groups_done(&c->ratios);
}

static int write_csv_put_all(FILE *out, struct csv *c, const struct report_lines *lines,
			     const struct present_options *options)
{
	struct buf text = { 0 };
	int r = ratio_groups_make(c->p, options->ratios, options->nr_ratios,
				  &c->ratios);

	if (r)
		return r;
	if (!options->no_header)
		write_csv_put_header(&text, c->p, c->events_apart, lines->inclusive,
				     options);
	for (size_t i = 0; i < lines->all.nr && !text.failed; i++) {
		write_csv_look_ahead(c->p, lines, i);
		write_csv_put_line(&text, c, lines, &lines->all.at[i]);
		if (text.len < WRITTEN_AT_ONCE)
			continue;
		fwrite(text.data, 1, text.len, out);
		buf_clear(&text);
	}
	r = text.failed ? -ENOMEM : 0;
	if (!r && text.len)
		fwrite(text.data, 1, text.len, out);
	buf_done(&text);
	return r;
}

int write_csv(FILE *out, struct profile *p, const struct present_options *options,
	      struct err *err)
{
	struct report_lines lines;
	struct csv csv;
	int r;

	csv_begin(&csv, p);
	r = lines_of_rows(p, options, csv.events_apart, &lines, err);
	if (!r) {
		if (write_csv_put_all(out, &csv, &lines, options))
			r = err_set(err, -ENOMEM, "out of memory");
		lines_done(&lines);
	}
	csv_end(&csv);
	return r;
}
