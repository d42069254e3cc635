/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/diff/tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "present/diff/diff.h"
#include "present/diff/rows.h"

struct diff_tree_making {
	struct diff_tree *t;
	const struct diff_view *v;
	enum diff_tree_order order;
	uint8_t *shown;     /* by node */
	uint32_t *siblings; /* shown nodes, by caller and order */
	size_t nr;          /* of `siblings` */
	uint32_t *
		next; /* by caller: index in `siblings` of the callee that comes next */
	uint32_t *line_of; /* by node */
};

struct compare_row diff_tree_row(const struct diff_view *v, uint32_t node)
{
	const struct compare_node *n = &v->comparison->nodes.at[node];
	struct compare_row row = v->comparison->rows.at[n->row];

	row.image = n->image;
	row.name = n->name;
	return row;
}

const struct compare_row *diff_tree_self(const struct diff_view *v, uint32_t node)
{
	const uint32_t row = v->comparison->nodes.at[node].self_row;

	return row == DICT_NONE ? NULL : &v->comparison->rows.at[row];
}

static bool diff_tree_shows(const struct diff_view *v, uint32_t node)
{
	const struct compare_row *self = diff_tree_self(v, node);

	return diff_shows(v,
			  &v->comparison->rows.at[v->comparison->nodes.at[node].row]) ||
	       (self && self->verdict != VERDICT_NOISE);
}

static double diff_tree_share(const struct diff_tree_making *m, uint32_t node)
{
	const struct comparison *c = m->v->comparison;
	const struct compare_row *row = &c->rows.at[c->nodes.at[node].row];

	return fmax(row->value[SIDE_BASE], row->value[SIDE_NEW]);
}

static int diff_tree_compare_names(const struct diff_tree_making *m, uint32_t a,
				   uint32_t b)
{
	const struct compare_row x = diff_tree_row(m->v, a), y = diff_tree_row(m->v, b);
	const int order = strcmp(diff_symbol(m->v, &x), diff_symbol(m->v, &y));

	return order ? order : strcmp(diff_image(m->v, &x), diff_image(m->v, &y));
}

static int diff_tree_compare(const void *va, const void *vb, void *ctx)
{
	const struct diff_tree_making *m = ctx;
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct compare_node *nodes = m->v->comparison->nodes.at;
	int order;

	if (nodes[a].caller != nodes[b].caller)
		return nodes[a].caller < nodes[b].caller ? -1 : 1;
	if (m->order == DIFF_TREE_BY_SHARE &&
	    diff_tree_share(m, a) != diff_tree_share(m, b))
		return diff_tree_share(m, a) > diff_tree_share(m, b) ? -1 : 1;
	order = diff_tree_compare_names(m, a, b);
	return order ? order : (a > b) - (a < b);
}

/* Fills m->siblings, and m->next with the first callee of each shown node. */
static void diff_tree_sort(struct diff_tree_making *m)
{
	const struct compare_node *nodes = m->v->comparison->nodes.at;
	const size_t nr = m->v->comparison->nodes.nr;

	for (size_t i = nr; i-- > 1;) {
		m->shown[i] |= diff_tree_shows(m->v, (uint32_t)i);
		m->shown[nodes[i].caller] |= m->shown[i];
	}
	for (uint32_t i = 1; i < nr; i++)
		if (m->shown[i])
			m->siblings[m->nr++] = i;
	if (m->nr)
		qsort_r(m->siblings, m->nr, sizeof(*m->siblings), diff_tree_compare, m);
	for (size_t i = 0; i < nr; i++)
		m->next[i] = DICT_NONE;
	for (size_t i = m->nr; i-- > 0;)
		m->next[nodes[m->siblings[i]].caller] = (uint32_t)i;
}

static int diff_tree_add(struct diff_tree_making *m, uint32_t at)
{
	const struct compare_node *nodes = m->v->comparison->nodes.at;
	const uint32_t node = m->siblings[at], caller = nodes[node].caller;
	struct diff_tree_line line = { .node = node };

	line.branch.is_last =
		at + 1 == m->nr || nodes[m->siblings[at + 1]].caller != caller;
	if (caller) {
		const struct diff_tree_line *above =
			&m->t->lines.at[m->line_of[caller]];

		line.branch.chained = nodes[node].row == nodes[caller].row;
		line.branch.level = above->branch.level + !line.branch.chained;
		line.depth = above->depth + 1;
	}
	m->line_of[node] = (uint32_t)m->t->lines.nr;
	return vec_push(&m->t->lines, line) ? 0 : -ENOMEM;
}

/* Adds a line for each shown node: a caller first, then its callees in order. */
static int diff_tree_walk(struct diff_tree_making *m)
{
	const struct compare_node *nodes = m->v->comparison->nodes.at;
	uint32_t node = 0;
	int r = 0;

	while (!r) {
		const uint32_t at = m->next[node];

		if (at >= m->nr || nodes[m->siblings[at]].caller != node) {
			if (!node)
				break;
			node = nodes[node].caller;
			continue;
		}
		m->next[node]++;
		r = diff_tree_add(m, at);
		node = m->siblings[at];
	}
	return r;
}

int diff_tree_make(struct diff_tree *t, const struct diff_view *v,
		   enum diff_tree_order order)
{
	const size_t nr = v->comparison->nodes.nr;
	struct diff_tree_making m = { .t = t, .v = v, .order = order };
	int r = -ENOMEM;

	*t = (struct diff_tree){ 0 };
	m.shown = calloc(nr + 1, sizeof(*m.shown));
	m.siblings = calloc(nr + 1, sizeof(*m.siblings));
	m.next = calloc(nr + 1, sizeof(*m.next));
	m.line_of = calloc(nr + 1, sizeof(*m.line_of));
	if (m.shown && m.siblings && m.next && m.line_of) {
		diff_tree_sort(&m);
		r = diff_tree_walk(&m);
		t->nr_hidden = nr - 1 - m.nr;
	}
	free(m.shown);
	free(m.siblings);
	free(m.next);
	free(m.line_of);
	return r;
}

void diff_tree_done(struct diff_tree *t)
{
	vec_done(&t->lines);
}
