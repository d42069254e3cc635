/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree_text.c - writes a compared call tree as text: functions below their callers. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "present/diff/diff.h"
#include "present/diff/rows.h"
#include "present/diff/text_priv.h"
#include "present/diff/tree.h"

enum {
	CELL_MAX = 64,
	VALUES_WIDTH = 26, /* base %, new % and change */
	SELF_WIDTH = 9,
	COUNTS_WIDTH = 48, /* all columns before the name */
	NAME_LEAST = 16    /* columns for a name on a narrow terminal */
};

struct tree_text {
	FILE *out;
	const struct diff_view *v;
	struct branches branches;
	struct buf text;
	struct buf name;
};

static void tree_text_put(struct tree_text *t, const char *text)
{
	buf_put(&t->text, text, strlen(text));
}

static void tree_text_put_blank(struct tree_text *t, size_t width)
{
	while (width--)
		buf_put_u8(&t->text, ' ');
}

static void tree_text_put_values(struct tree_text *t, const struct compare_row *row)
{
	char cell[CELL_MAX];

	snprintf(cell, sizeof(cell), "%8.2f %8.2f %+8.2f", row->value[SIDE_BASE],
		 row->value[SIDE_NEW], row->change);
	tree_text_put(t, cell);
}

static void tree_text_put_verdict(struct tree_text *t, enum verdict verdict)
{
	const char *colour = diff_verdict_colour(t->v, verdict);
	char cell[CELL_MAX];

	snprintf(cell, sizeof(cell), "  %s%-9s%s  ", colour, verdict_name(verdict),
		 *colour ? SCREEN_PLAIN : "");
	tree_text_put(t, cell);
}

/* Writes the columns of a line.  In a chain, values equal to those of the line above are left
 * blank. */
static void tree_text_put_counts(struct tree_text *t, const struct diff_tree_line *line)
{
	const struct compare_row row = diff_tree_row(t->v, line->node);
	const struct compare_row *self = diff_tree_self(t->v, line->node);
	char cell[CELL_MAX];

	if (line->branch.chained)
		tree_text_put_blank(t, VALUES_WIDTH);
	else
		tree_text_put_values(t, &row);
	if (self) {
		snprintf(cell, sizeof(cell), " %+8.2f", self->change);
		tree_text_put(t, cell);
	} else {
		tree_text_put_blank(t, SELF_WIDTH);
	}
	if (line->branch.chained)
		tree_text_put_blank(t, COUNTS_WIDTH - VALUES_WIDTH - SELF_WIDTH);
	else
		tree_text_put_verdict(t, row.verdict);
}

/* Returns the name of a node, with its image if its caller is in another image. Valid until the
 * next call. */
static const char *tree_text_name(struct tree_text *t, uint32_t number)
{
	const struct compare_node *nodes = t->v->comparison->nodes.at;
	const struct compare_row row = diff_tree_row(t->v, number);
	const char *symbol = diff_symbol(t->v, &row), *image = diff_image(t->v, &row);

	buf_clear(&t->name);
	buf_put(&t->name, symbol, strlen(symbol));
	if (*image && nodes[nodes[number].caller].image != row.image) {
		buf_put(&t->name, "  ", 2);
		buf_put(&t->name, image, strlen(image));
	}
	buf_put_u8(&t->name, 0);
	return t->name.failed ? "" : (const char *)t->name.data;
}

static int tree_text_put_line(struct tree_text *t, const struct diff_tree_line *line)
{
	const size_t used = COUNTS_WIDTH + 2 * (size_t)line->branch.level;
	const size_t width = t->v->screen.width;
	const char *name;

	buf_clear(&t->text);
	tree_text_put_counts(t, line);
	if (branches_put(&t->branches, &t->text, &line->branch, &t->v->screen))
		return -ENOMEM;
	name = tree_text_name(t, line->node);
	diff_text_name(&t->text, t->v, name, 0,
		       !width                      ? 0
		       : width > used + NAME_LEAST ? width - used
						   : NAME_LEAST);
	buf_put_u8(&t->text, '\n');
	if (t->text.failed || t->name.failed)
		return -ENOMEM;
	fwrite(t->text.data, 1, t->text.len, t->out);
	return 0;
}

static int tree_text_put_total(struct tree_text *t)
{
	buf_clear(&t->text);
	tree_text_put_values(t, &t->v->comparison->total);
	tree_text_put_blank(t, SELF_WIDTH);
	tree_text_put_verdict(t, t->v->comparison->total.verdict);
	tree_text_put(t, "(total)\n");
	if (t->text.failed)
		return -ENOMEM;
	fwrite(t->text.data, 1, t->text.len, t->out);
	return 0;
}

static int tree_text_put_all(struct tree_text *t, const struct diff_tree *tree)
{
	int r = 0;

	if (!t->v->no_header) {
		diff_text_sides(t->out, t->v);
		fprintf(t->out, "%8s %8s %8s %8s  %-9s  %s\n", "base %", "new %",
			"change", "self", "verdict", "symbol name");
	}
	if (t->v->comparison->options.is_rate)
		r = tree_text_put_total(t);
	for (size_t i = 0; !r && i < tree->lines.nr; i++)
		r = tree_text_put_line(t, &tree->lines.at[i]);
	if (!r && !t->v->no_header) {
		r = diff_text_moves(t->out, t->v);
		diff_text_summary(t->out, t->v, tree->nr_hidden, "unchanged nodes");
	}
	return r;
}

int write_diff_tree(FILE *out, const struct diff_view *v)
{
	struct tree_text t = { .out = out, .v = v };
	struct diff_tree tree;
	int r = diff_tree_make(&tree, v, DIFF_TREE_BY_SHARE);

	if (!r)
		r = tree_text_put_all(&t, &tree);
	branches_done(&t.branches);
	buf_done(&t.text);
	buf_done(&t.name);
	diff_tree_done(&tree);
	return r;
}
