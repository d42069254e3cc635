/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_diff.c - writes the flame graph of a comparison.  The page is that of flame_page.h, and
 * pages/flamediff.js replaces the counts.  In addition to the members there, #data has `diff`:
 *   unit, confidence     texts on the percentages
 *   sides                [[number of runs, samples, names of runs], ...]: base and new
 *   notes                on the data
 *   verdicts             their names
 *   nodes                by node: [base, new, low, high, verdict, tested], in percent and points
 *   self                 the same of the samples without those of callees; 0 if there are none */
#include "present/export/flame_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/map.h"
#include "compare/comparison.h"
#include "flamediff_page.h"
#include "present/diff/diff.h"
#include "present/diff/rows.h"
#include "present/diff/tree.h"
#include "present/export/flame_page.h"

enum {
	NUMBER_MAX = 32
};

struct flame_diff {
	struct flame_page page;
	const struct diff_view *v;
	struct diff_tree tree;
	struct map symbol_by;   /* (image, name) */
	VEC(uint32_t) symbols;  /* a node with each */
	uint32_t *symbol_of;    /* by line of the tree */
	uint32_t *line_of_node; /* by node of the comparison: its number in the page */
};

static int flame_diff_number_symbols(struct flame_diff *f)
{
	const struct comparison *c = f->v->comparison;

	for (size_t i = 0; i < f->tree.lines.nr; i++) {
		const uint32_t number = f->tree.lines.at[i].node;
		const struct compare_node *node = &c->nodes.at[number];
		bool is_new;
		struct map_slot *slot =
			map_at(&f->symbol_by, node->image, node->name, &is_new);

		if (!slot)
			return -ENOMEM;
		if (is_new) {
			slot->value_plus_1 = (uint32_t)f->symbols.nr + 1;
			if (!vec_push(&f->symbols, number))
				return -ENOMEM;
		}
		f->symbol_of[i] = slot->value_plus_1 - 1;
		f->line_of_node[number] = (uint32_t)i + 1;
	}
	return 0;
}

/* Writes a number with six digits.  A number that is not known is null. */
static void flame_diff_number(struct flame_diff *f, double value)
{
	char text[NUMBER_MAX];

	snprintf(text, sizeof(text), "%.6g", value);
	json_number(&f->page.json, isfinite(value) ? text : "null");
}

static void flame_diff_row(struct flame_diff *f, const struct compare_row *row)
{
	struct json *j = &f->page.json;

	json_begin_array(j);
	flame_diff_number(f, row->value[SIDE_BASE]);
	flame_diff_number(f, row->value[SIDE_NEW]);
	flame_diff_number(f, row->interval.low);
	flame_diff_number(f, row->interval.high);
	json_u64(j, row->verdict);
	json_u64(j, !isnan(row->p));
	json_end_array(j);
}

static void flame_diff_side(struct flame_diff *f, enum compare_side side)
{
	const struct comparison *c = f->v->comparison;
	struct json *j = &f->page.json;

	json_begin_array(j);
	json_u64(j, c->nr_runs[side]);
	flame_diff_number(f, c->samples[side]);
	for (size_t i = 0; i < c->runs.nr; i++)
		if (c->runs.at[i].side == side)
			flame_page_text(&f->page,
					strtab_get(&c->strings, c->runs.at[i].name));
	json_end_array(j);
}

static void flame_diff_about(struct flame_diff *f)
{
	struct json *j = &f->page.json;

	json_name(j, "unit");
	flame_page_text(&f->page, f->v->unit);
	json_name(j, "confidence");
	flame_diff_number(f, 100 * f->v->comparison->options.confidence);
	json_name(j, "sides");
	json_begin_array(j);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		flame_diff_side(f, side);
	json_end_array(j);
	json_name(j, "notes");
	json_begin_array(j);
	for (size_t i = 0; i < f->v->nr_notes; i++)
		flame_page_text(&f->page, f->v->notes[i]);
	json_end_array(j);
	json_name(j, "verdicts");
	json_begin_array(j);
	for (enum verdict v = 0; v < VERDICT_COUNT; v++)
		json_text(j, verdict_name(v));
	json_end_array(j);
}

/* Returns a row for the root, which has all samples: for rates, the row of the total. */
static struct compare_row flame_diff_root(const struct comparison *c)
{
	struct compare_row all = { .p = NAN };

	if (c->options.is_rate)
		return c->total;
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		all.value[side] = c->samples[side] > 0 ? 100 : 0;
	return all;
}

static void flame_diff_nodes(struct flame_diff *f)
{
	const struct compare_row all = flame_diff_root(f->v->comparison);
	struct json *j = &f->page.json;

	json_name(j, "nodes");
	json_begin_array(j);
	flame_diff_row(f, &all);
	for (size_t i = 0; i < f->tree.lines.nr; i++) {
		const struct compare_row row =
			diff_tree_row(f->v, f->tree.lines.at[i].node);

		flame_diff_row(f, &row);
	}
	json_end_array(j);
	json_name(j, "self");
	json_begin_array(j);
	json_u64(j, 0);
	for (size_t i = 0; i < f->tree.lines.nr; i++) {
		const struct compare_row *self =
			diff_tree_self(f->v, f->tree.lines.at[i].node);

		if (self)
			flame_diff_row(f, self);
		else
			json_u64(j, 0);
	}
	json_end_array(j);
}

static void flame_diff_symbols(struct flame_diff *f)
{
	const struct comparison *c = f->v->comparison;
	struct json *j = &f->page.json;

	json_name(j, "images");
	json_begin_array(j);
	for (uint32_t i = 0; i < c->images.nr; i++) {
		const struct compare_row row = { .image = i };

		flame_page_text(&f->page, diff_image(f->v, &row));
	}
	json_end_array(j);
	json_name(j, "symbols");
	json_begin_array(j);
	for (size_t i = 0; i < f->symbols.nr; i++) {
		const struct compare_row row = diff_tree_row(f->v, f->symbols.at[i]);

		json_begin_array(j);
		flame_page_text(&f->page, diff_symbol(f->v, &row));
		json_u64(j, row.image);
		json_u64(j, 0);
		json_end_array(j);
	}
	json_end_array(j);
}

static void flame_diff_tree(struct flame_diff *f)
{
	const struct compare_node *nodes = f->v->comparison->nodes.at;
	struct json *j = &f->page.json;

	json_name(j, "symbol");
	json_begin_array(j);
	json_u64(j, 0); /* the root has no symbol */
	for (size_t i = 0; i < f->tree.lines.nr; i++)
		json_u64(j, f->symbol_of[i]);
	json_end_array(j);
	json_name(j, "up");
	json_begin_array(j);
	json_u64(j, 0);
	for (size_t i = 0; i < f->tree.lines.nr; i++)
		json_u64(j, i + 1 -
				    f->line_of_node[nodes[f->tree.lines.at[i].node]
							    .caller]);
	json_end_array(j);
}

static void flame_diff_page(struct flame_diff *f)
{
	static const struct flame_page_more more = {
		.title = "Flame graph of a difference",
		.heading = "Flame graph of a difference",
		.style = FLAMEDIFF_CSS,
		.style_hash = "'" FLAMEDIFF_CSS_HASH "'",
		.script = FLAMEDIFF_JS,
		.script_hash = "'" FLAMEDIFF_JS_HASH "'",
		.body = "<section id=about aria-label=\"What is compared\">\n"
			"<div id=legend role=img></div>\n"
			"<details><summary id=sides></summary><ul id=notes></ul></details>\n"
			"</section>\n",
	};
	struct json *j = &f->page.json;

	flame_page_begin(&f->page, &more);
	json_begin_object(j);
	json_name(j, "events");
	json_begin_array(j);
	json_end_array(j);
	flame_diff_symbols(f);
	flame_diff_tree(f);
	json_name(j, "who");
	json_begin_array(j);
	json_end_array(j);
	json_member_u64(j, "levels", 0);
	json_member_u64(j, "sessions", 1);
	json_name(j, "diff");
	json_begin_object(j);
	flame_diff_about(f);
	flame_diff_nodes(f);
	json_end_object(j);
	json_end_object(j);
	flame_page_end(&f->page, &more);
}

int write_diff_flamegraph(FILE *out, const struct diff_view *v)
{
	struct flame_diff f = { .page = { .json = { .out = out } }, .v = v };
	int r = diff_tree_make(&f.tree, v, DIFF_TREE_BY_NAME);

	f.symbol_of = calloc(f.tree.lines.nr + 1, sizeof(*f.symbol_of));
	f.line_of_node = calloc(v->comparison->nodes.nr + 1, sizeof(*f.line_of_node));
	if (!f.symbol_of || !f.line_of_node)
		r = -ENOMEM;
	if (!r)
		r = flame_diff_number_symbols(&f);
	if (!r)
		flame_diff_page(&f);
	if (!r && f.page.text.failed)
		r = -ENOMEM;
	vec_done(&f.symbols);
	map_done(&f.symbol_by);
	free(f.symbol_of);
	free(f.line_of_node);
	diff_tree_done(&f.tree);
	flame_page_done(&f.page);
	return r;
}
