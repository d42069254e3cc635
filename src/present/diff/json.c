/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - writes a comparison as {"schema":"oprofile-diff/1",...}, and a history as
 * {"schema":"oprofile-history/1",...}. */
#include "present/lines/json.h"

#include <math.h>
#include <string.h>

#include "compare/history.h"
#include "present/diff/diff.h"
#include "present/diff/history.h"
#include "present/diff/rows.h"
#include "present/diff/tree.h"

enum {
	NUMBER_MAX = 32
};

/* Writes a number as a member; an unknown number is null. */
static void diff_json_number(struct json *j, const char *name, double value)
{
	char text[NUMBER_MAX];

	json_name(j, name);
	snprintf(text, sizeof(text), "%.10g", value);
	json_number(j, isfinite(value) ? text : "null");
}

static void diff_json_runs(struct json *j, const struct comparison *c,
			   enum compare_side side)
{
	json_name(j, side == SIDE_BASE ? "base" : "new");
	json_begin_object(j);
	diff_json_number(j, "samples", c->samples[side]);
	json_name(j, "runs");
	json_begin_array(j);
	for (size_t i = 0; i < c->runs.nr; i++) {
		if (c->runs.at[i].side != side)
			continue;
		json_begin_object(j);
		json_member_text(j, "name",
				 strtab_get(&c->strings, c->runs.at[i].name));
		diff_json_number(j, "samples", c->runs.at[i].samples);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

/* Writes the members of a node of a tree. */
static void diff_json_node(struct json *j, const struct diff_view *v,
			   const struct diff_tree_line *line)
{
	const struct compare_row *self = diff_tree_self(v, line->node);

	json_member_u64(j, "depth", line->depth);
	diff_json_number(j, "self_base_percent", self ? self->value[SIDE_BASE] : 0);
	diff_json_number(j, "self_new_percent", self ? self->value[SIDE_NEW] : 0);
	diff_json_number(j, "self_change", self ? self->change : 0);
	json_member_text(j, "self_verdict",
			 verdict_name(self ? self->verdict : VERDICT_NOISE));
}

static void diff_json_names(struct json *j, const struct diff_view *v,
			    const struct compare_row *row)
{
	json_member_text(j, "image", diff_image(v, row));
	if (v->by == DIFF_BY_LINE)
		json_member_text(j, "line", diff_line(v, row));
	if (v->by != DIFF_BY_IMAGE)
		json_member_text(j, "symbol", diff_symbol(v, row));
}

static void diff_json_notes(struct json *j, const struct diff_view *v)
{
	json_name(j, "notes");
	json_begin_array(j);
	for (size_t i = 0; i < v->nr_notes; i++)
		json_text(j, v->notes[i]);
	json_end_array(j);
}

/* `line` is NULL unless the row is a node of a tree. */
static void diff_json_row(struct json *j, const struct diff_view *v,
			  const struct compare_row *row,
			  const struct diff_tree_line *line)
{
	json_begin_object(j);
	if (line)
		diff_json_node(j, v, line);
	diff_json_names(j, v, row);
	diff_json_number(j, "base_samples", row->count[SIDE_BASE]);
	diff_json_number(j, "new_samples", row->count[SIDE_NEW]);
	diff_json_number(j, "base_percent", row->value[SIDE_BASE]);
	diff_json_number(j, "new_percent", row->value[SIDE_NEW]);
	diff_json_number(j, "change", row->change);
	diff_json_number(j, "relative_percent", diff_relative(row));
	diff_json_number(j, "interval_low", row->interval.low);
	diff_json_number(j, "interval_high", row->interval.high);
	diff_json_number(j, "q", row->q);
	json_member_text(j, "verdict", verdict_name(row->verdict));
	if (row->move != DICT_NONE)
		json_member_u64(j, "move", row->move);
	json_end_object(j);
}

/* Writes the usual variation between runs, which is the same for all rows; null if no side has
 * several runs. */
static void diff_json_variation(struct json *j, const struct usual_variation *usual)
{
	json_name(j, "usual_variation");
	if (!usual->between) {
		json_raw(j, "null", strlen("null"));
		return;
	}
	json_begin_object(j);
	diff_json_number(j, "sampling", usual->sampling);
	diff_json_number(j, "runs", usual->runs);
	diff_json_number(j, "df", usual->df);
	json_end_object(j);
}

/* Writes the groups to which the member "move" of rows refers. */
static void diff_json_moves(struct json *j, const struct comparison *c)
{
	json_name(j, "moves");
	json_begin_array(j);
	for (size_t i = 0; i < c->moves.nr; i++) {
		json_begin_object(j);
		diff_json_number(j, "change", c->moves.at[i].change);
		diff_json_number(j, "interval_low", c->moves.at[i].interval.low);
		diff_json_number(j, "interval_high", c->moves.at[i].interval.high);
		json_end_object(j);
	}
	json_end_array(j);
}

static int diff_json_rows(struct json *j, const struct diff_view *v)
{
	const struct comparison *c = v->comparison;

	for (size_t i = 0; i < c->rows.nr; i++) {
		if (diff_shows(v, &c->rows.at[i]))
			diff_json_row(j, v, &c->rows.at[i], NULL);
	}
	return 0;
}

static int diff_json_tree(struct json *j, const struct diff_view *v)
{
	struct diff_tree tree;
	int r = diff_tree_make(&tree, v, DIFF_TREE_BY_SHARE);

	for (size_t i = 0; !r && i < tree.lines.nr; i++) {
		const struct compare_row row = diff_tree_row(v, tree.lines.at[i].node);

		diff_json_row(j, v, &row, &tree.lines.at[i]);
	}
	diff_tree_done(&tree);
	return r;
}

int write_diff_json(FILE *out, const struct diff_view *v)
{
	const struct comparison *c = v->comparison;
	struct json j = { .out = out };
	int r;

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-diff/1");
	json_member_text(&j, "values", v->unit);
	diff_json_number(&j, "confidence", c->options.confidence);
	diff_json_number(&j, "false_discovery_rate", c->options.discovery);
	diff_json_number(&j, "min_effect", c->options.least_change);
	diff_json_variation(&j, &c->usual);
	diff_json_runs(&j, c, SIDE_BASE);
	diff_json_runs(&j, c, SIDE_NEW);
	diff_json_notes(&j, v);
	if (c->options.is_rate) {
		json_name(&j, "total");
		diff_json_row(&j, v, &c->total, NULL);
	}
	diff_json_moves(&j, c);
	json_name(&j, "rows");
	json_begin_array(&j);
	r = v->by == DIFF_BY_TREE ? diff_json_tree(&j, v) : diff_json_rows(&j, v);
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
	return r;
}

static void history_json_runs(struct json *j, const struct history_view *v)
{
	const struct comparison *c = v->diff.comparison;

	json_name(j, "recordings");
	json_begin_array(j);
	for (size_t i = 0; i < c->runs.nr; i++) {
		json_begin_object(j);
		json_member_text(j, "name",
				 strtab_get(&c->strings, c->runs.at[i].name));
		json_member_u64(j, "start_ns", c->runs.at[i].facts.start_ns);
		diff_json_number(j, "samples", c->runs.at[i].samples);
		json_end_object(j);
	}
	json_end_array(j);
}

/* Writes a change; its members "first", "at" and "end" are indexes in "recordings". */
static void history_json_change(struct json *j, const struct history_view *v,
				const struct history_change *change)
{
	const struct history *h = v->history;
	const double *values = h->values + change->row * h->nr_runs;

	json_begin_object(j);
	diff_json_names(j, &v->diff, &v->diff.comparison->rows.at[change->row]);
	json_member_text(j, "before", history_run_name(v, change->at - 1));
	json_member_text(j, "after", history_run_name(v, change->at));
	json_member_u64(j, "first", change->first);
	json_member_u64(j, "at", change->at);
	json_member_u64(j, "end", change->end);
	diff_json_number(j, "base_percent", change->before);
	diff_json_number(j, "new_percent", change->after);
	diff_json_number(j, "change", change->after - change->before);
	diff_json_number(j, "relative_percent", history_relative(change));
	diff_json_number(j, "p", change->p);
	diff_json_number(j, "q", change->q);
	json_member_text(j, "verdict", verdict_name(change->verdict));
	if (change->verdict == VERDICT_MOVED)
		diff_json_number(j, "together", change->together);
	json_name(j, "newest");
	json_bool(j, history_is_last(h, change));
	json_name(j, "values");
	json_begin_array(j);
	for (size_t i = 0; i < h->nr_runs; i++) {
		char text[NUMBER_MAX];

		snprintf(text, sizeof(text), "%.6g", values[i]);
		json_number(j, text);
	}
	json_end_array(j);
	json_end_object(j);
}

int write_history_json(FILE *out, const struct history_view *v)
{
	const struct comparison_options *options = &v->diff.comparison->options;
	struct json j = { .out = out };

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-history/1");
	json_member_text(&j, "values", v->diff.unit);
	diff_json_number(&j, "false_discovery_rate", options->discovery);
	diff_json_number(&j, "min_effect", options->least_change);
	diff_json_number(&j, "tested", (double)v->history->nr_tested);
	history_json_runs(&j, v);
	diff_json_notes(&j, &v->diff);
	json_name(&j, "changes");
	json_begin_array(&j);
	for (size_t i = 0; i < v->history->changes.nr; i++)
		history_json_change(&j, v, &v->history->changes.at[i]);
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
	return 0;
}
