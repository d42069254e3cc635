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
#include "present/diff/tree.h"
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

/* Writes the columns of a node's samples without those of callees. */
static void diff_csv_self(struct buf *out, const struct compare_row *self)
{
	diff_csv_number(out, self ? self->value[SIDE_BASE] : 0);
	diff_csv_number(out, self ? self->value[SIDE_NEW] : 0);
	diff_csv_number(out, self ? self->change : 0);
	diff_csv_text(out, verdict_name(self ? self->verdict : VERDICT_NOISE));
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

/* `line` is NULL unless the row is a node of a tree. */
static void diff_csv_row(struct buf *out, const struct diff_view *v,
			 const struct compare_row *row,
			 const struct diff_tree_line *line)
{
	const char *verdict = verdict_name(row->verdict);

	if (line)
		diff_csv_number(out, line->depth);
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
	if (line)
		diff_csv_self(out, diff_tree_self(v, line->node));
	buf_put(out, verdict, strlen(verdict));
	buf_put(out, "\r\n", 2);
}

/* Writes the titles of the columns. `rest` are the titles after those of the names. */
static void diff_csv_titles(struct buf *out, const struct diff_view *v,
			    const char *rest)
{
	if (v->by == DIFF_BY_TREE)
		diff_csv_text(out, "depth");
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

static int diff_csv_tree(struct buf *out, const struct diff_view *v)
{
	struct diff_tree tree;
	int r = diff_tree_make(&tree, v, DIFF_TREE_BY_SHARE);

	for (size_t i = 0; !r && i < tree.lines.nr; i++) {
		const struct compare_row row = diff_tree_row(v, tree.lines.at[i].node);

		diff_csv_row(out, v, &row, &tree.lines.at[i]);
	}
	diff_tree_done(&tree);
	return r;
}

int write_diff_csv(FILE *out, const struct diff_view *v)
{
	const struct comparison *c = v->comparison;
	const bool is_tree = v->by == DIFF_BY_TREE;
	struct buf text = { 0 };
	int r = 0;

	if (!v->no_header)
		diff_csv_titles(
			&text, v,
			is_tree ? "base_samples,new_samples,base_percent,new_percent,change,relative_percent,"
				  "interval_low,interval_high,q,together,self_base_percent,"
				  "self_new_percent,self_change,self_verdict,verdict"
				: "base_samples,new_samples,base_percent,new_percent,change,relative_percent,"
				  "interval_low,interval_high,q,together,verdict");
	if (c->options.is_rate && !is_tree)
		diff_csv_row(&text, v, &c->total, NULL);
	for (size_t i = 0; !is_tree && i < c->rows.nr; i++) {
		if (diff_shows(v, &c->rows.at[i]))
			diff_csv_row(&text, v, &c->rows.at[i], NULL);
	}
	if (is_tree)
		r = diff_csv_tree(&text, v);
	text.failed |= r != 0;
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
