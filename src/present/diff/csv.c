/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv.c - writes a comparison or a history as CSV (RFC 4180). */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "compare/history.h"
#include "present/diff/diff.h"
#include "present/diff/history.h"
#include "present/diff/rows.h"
#include "present/text/csv.h"

enum {
	NUMBER_MAX = 32
};

static void diff_csv_text(struct buf *out, const char *text)
{
	csv_put_field(out, text, strlen(text));
	buf_put_u8(out, ',');
}

/* Appends a number as a field; an unknown number is an empty field. */
static void diff_csv_number(struct buf *out, double value)
{
	char text[NUMBER_MAX];

	if (isfinite(value)) {
		snprintf(text, sizeof(text), "%.10g", value);
		buf_put(out, text, strlen(text));
	}
	buf_put_u8(out, ',');
}

static void diff_csv_names(struct buf *out, const struct diff_view *v,
			   const struct compare_row *row)
{
	diff_csv_text(out, diff_image(v, row));
	if (v->by == DIFF_BY_LINE)
		diff_csv_text(out, diff_line(v, row));
	if (v->by != DIFF_BY_IMAGE)
		diff_csv_text(out, diff_symbol(v, row));
}

static void diff_csv_row(struct buf *out, const struct diff_view *v,
			 const struct compare_row *row)
{
	const char *verdict = verdict_name(row->verdict);

	diff_csv_names(out, v, row);
	diff_csv_number(out, row->count[SIDE_BASE]);
	diff_csv_number(out, row->count[SIDE_NEW]);
	diff_csv_number(out, row->value[SIDE_BASE]);
	diff_csv_number(out, row->value[SIDE_NEW]);
	diff_csv_number(out, row->change);
	diff_csv_number(out, diff_relative(row));
	diff_csv_number(out, row->interval.low);
	diff_csv_number(out, row->interval.high);
	diff_csv_number(out, row->q);
	diff_csv_number(out, row->move == DICT_NONE
				     ? NAN
				     : v->comparison->moves.at[row->move].change);
	buf_put(out, verdict, strlen(verdict));
	buf_put(out, "\r\n", 2);
}

/* Writes the titles of the columns. `rest` are the titles after those of the names. */
static void diff_csv_titles(struct buf *out, const struct diff_view *v,
			    const char *rest)
{
	diff_csv_text(out, "image");
	if (v->by == DIFF_BY_LINE)
		diff_csv_text(out, "line");
	if (v->by != DIFF_BY_IMAGE)
		diff_csv_text(out, "symbol");
	buf_put(out, rest, strlen(rest));
	buf_put(out, "\r\n", 2);
}

static int diff_csv_end(FILE *out, struct buf *text)
{
	const bool failed = text->failed;

	if (!failed && text->len)
		fwrite(text->data, 1, text->len, out);
	buf_done(text);
	return failed ? -ENOMEM : 0;
}

int write_diff_csv(FILE *out, const struct diff_view *v)
{
	const struct comparison *c = v->comparison;
	struct buf text = { 0 };

	if (!v->no_header)
		diff_csv_titles(
			&text, v,
			"base_samples,new_samples,base_percent,new_percent,change,relative_percent,"
			"interval_low,interval_high,q,together,verdict");
	if (c->options.is_rate)
		diff_csv_row(&text, v, &c->total);
	for (size_t i = 0; i < c->rows.nr; i++) {
		if (diff_shows(v, &c->rows.at[i]))
			diff_csv_row(&text, v, &c->rows.at[i]);
	}
	return diff_csv_end(out, &text);
}

static void history_csv_row(struct buf *out, const struct history_view *v,
			    const struct history_change *change)
{
	const char *newest = history_is_last(v->history, change) ? "yes" : "no";
	const char *verdict = verdict_name(change->verdict);

	diff_csv_names(out, &v->diff, &v->diff.comparison->rows.at[change->row]);
	diff_csv_text(out, history_run_name(v, change->at - 1));
	diff_csv_text(out, history_run_name(v, change->at));
	diff_csv_number(out, (double)(change->at - change->first));
	diff_csv_number(out, (double)(change->end - change->at));
	diff_csv_number(out, change->before);
	diff_csv_number(out, change->after);
	diff_csv_number(out, change->after - change->before);
	diff_csv_number(out, history_relative(change));
	diff_csv_number(out, change->p);
	diff_csv_number(out, change->q);
	diff_csv_number(out, change->verdict == VERDICT_MOVED ? change->together : NAN);
	diff_csv_text(out, newest);
	buf_put(out, verdict, strlen(verdict));
	buf_put(out, "\r\n", 2);
}

int write_history_csv(FILE *out, const struct history_view *v)
{
	struct buf text = { 0 };

	if (!v->diff.no_header)
		diff_csv_titles(
			&text, &v->diff,
			"before,after,base_runs,new_runs,base_percent,new_percent,"
			"change,relative_percent,p,q,together,newest,verdict");
	for (size_t i = 0; i < v->history->changes.nr; i++)
		history_csv_row(&text, v, &v->history->changes.at[i]);
	return diff_csv_end(out, &text);
}
