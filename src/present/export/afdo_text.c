/* SPDX-License-Identifier: GPL-2.0-or-later */
/* afdo_text.c - writes a sample profile as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "present/export/afdo_tree.h"
#include "present/lines/screen.h"

/* All elements in output order, with start indices: node i has the children
 * children[first_child[i]] up to children[first_child[i + 1]], and so on. */
struct afdo_text {
	struct afdo_tree *t;
	FILE *out;
	uint32_t *children; /* nodes; those not inlined are last */
	uint32_t *spots;
	uint32_t *targets;
	size_t *first_child; /* by node */
	size_t *first_spot;
	size_t *first_target; /* by spot */
};

/* ---- order ---- */

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_position(struct afdo_at a, struct afdo_at b)
{
	return a.line != b.line ? by_number(a.line, b.line)
				: by_number(a.block, b.block);
}

static int afdo_text_by_name(const struct afdo_tree *t, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(strtab_get(&t->names, a), strtab_get(&t->names, b));
}

static int compare_nodes(const void *va, const void *vb, void *ctx)
{
	const struct afdo_tree *t = ctx;
	const struct afdo_node *a = &t->nodes.at[*(const uint32_t *)va];
	const struct afdo_node *b = &t->nodes.at[*(const uint32_t *)vb];
	int r = by_number(a->parent, b->parent);

	if (!r)
		r = a->parent == AFDO_NONE ? by_number(b->total, a->total)
					   : by_position(a->call, b->call);
	return r ? r : afdo_text_by_name(t, a->name, b->name);
}

static int afdo_text_compare_spots(const void *va, const void *vb, void *ctx)
{
	const struct afdo_tree *t = ctx;
	const struct afdo_spot *a = &t->spots.at[*(const uint32_t *)va];
	const struct afdo_spot *b = &t->spots.at[*(const uint32_t *)vb];
	int r = by_number(a->node, b->node);

	return r ? r : by_position(a->at, b->at);
}

static int compare_targets(const void *va, const void *vb, void *ctx)
{
	const struct afdo_tree *t = ctx;
	const struct afdo_target *a = &t->targets.at[*(const uint32_t *)va];
	const struct afdo_target *b = &t->targets.at[*(const uint32_t *)vb];
	int r = by_number(a->spot, b->spot);

	if (!r)
		r = by_number(b->count, a->count);
	return r ? r : afdo_text_by_name(t, a->name, b->name);
}

static void afdo_text_sum_up(struct afdo_tree *t)
{
	for (size_t i = 0; i < t->nodes.nr; i++)
		t->nodes.at[i].total = 0;
	for (size_t i = 0; i < t->spots.nr; i++)
		t->nodes.at[t->spots.at[i].node].total += t->spots.at[i].count;
	for (size_t i = t->nodes.nr; i-- > 0;)
		if (t->nodes.at[i].parent != AFDO_NONE)
			t->nodes.at[t->nodes.at[i].parent].total +=
				t->nodes.at[i].total;
}

/* Returns all numbers below `nr`, sorted; the caller frees them. */
static uint32_t *sorted(struct afdo_tree *t, size_t nr,
			int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = malloc((nr + 1) * sizeof(*order));

	for (size_t i = 0; order && i < nr; i++)
		order[i] = (uint32_t)i;
	if (order && nr)
		qsort_r(order, nr, sizeof(*order), compare, t);
	return order;
}

static bool sort_all(struct afdo_text *x)
{
	struct afdo_tree *t = x->t;

	x->children = sorted(t, t->nodes.nr, compare_nodes);
	x->spots = sorted(t, t->spots.nr, afdo_text_compare_spots);
	x->targets = sorted(t, t->targets.nr, compare_targets);
	x->first_child = calloc(t->nodes.nr + 2, sizeof(*x->first_child));
	x->first_spot = calloc(t->nodes.nr + 2, sizeof(*x->first_spot));
	x->first_target = calloc(t->spots.nr + 2, sizeof(*x->first_target));
	return x->children && x->spots && x->targets && x->first_child &&
	       x->first_spot && x->first_target;
}

static void find_firsts(struct afdo_text *x)
{
	const struct afdo_tree *t = x->t;

	for (size_t i = 0; i < t->nodes.nr; i++)
		if (t->nodes.at[i].parent != AFDO_NONE)
			x->first_child[t->nodes.at[i].parent + 1]++;
	for (size_t i = 0; i < t->spots.nr; i++)
		x->first_spot[t->spots.at[i].node + 1]++;
	for (size_t i = 0; i < t->targets.nr; i++)
		x->first_target[t->targets.at[i].spot + 1]++;
	for (size_t i = 0; i < t->nodes.nr; i++) {
		x->first_child[i + 1] += x->first_child[i];
		x->first_spot[i + 1] += x->first_spot[i];
	}
	for (size_t i = 0; i < t->spots.nr; i++)
		x->first_target[i + 1] += x->first_target[i];
}

/* ---- text ---- */

static void afdo_text_put_position(const struct afdo_text *x, unsigned int depth,
				   struct afdo_at at)
{
	fprintf(x->out, "%*s%" PRIu32, (int)depth, "", at.line);
	if (at.block)
		fprintf(x->out, ".%" PRIu32, at.block);
	fputs(": ", x->out);
}

static void afdo_text_put_spot(const struct afdo_text *x, unsigned int depth,
			       uint32_t number)
{
	const struct afdo_spot *s = &x->t->spots.at[number];

	afdo_text_put_position(x, depth, s->at);
	fprintf(x->out, "%" PRIu64, s->count);
	for (size_t i = x->first_target[number]; i < x->first_target[number + 1]; i++) {
		const struct afdo_target *to = &x->t->targets.at[x->targets[i]];

		putc(' ', x->out);
		screen_write_masked(x->out, strtab_get(&x->t->names, to->name));
		fprintf(x->out, ":%" PRIu64, to->count);
	}
	fputc('\n', x->out);
}

/* Writes a function and, recursively, the functions inlined into it. The recursion depth is the
 * inline depth, at most FRAMES_MAX of export/afdo.c. */
static void put_node(const struct afdo_text *x, unsigned int depth, uint32_t number)
{
	const struct afdo_node *n = &x->t->nodes.at[number];
	const char *name = strtab_get(&x->t->names, n->name);

	if (depth)
		afdo_text_put_position(x, depth, n->call);
	screen_write_masked(x->out, name);
	fprintf(x->out, ":%" PRIu64, n->total);
	if (!depth)
		fprintf(x->out, ":%" PRIu64, n->head);
	putc('\n', x->out);
	for (size_t i = x->first_spot[number]; i < x->first_spot[number + 1]; i++)
		afdo_text_put_spot(x, depth + 1, x->spots[i]);
	for (size_t i = x->first_child[number]; i < x->first_child[number + 1]; i++)
		put_node(x, depth + 1, x->children[i]);
}

int afdo_tree_write(struct afdo_tree *t, FILE *out)
{
	struct afdo_text x = { .t = t, .out = out };
	int r = -ENOMEM;

	afdo_text_sum_up(t);
	if (sort_all(&x)) {
		find_firsts(&x);
		for (size_t i = t->nodes.nr ? x.first_child[t->nodes.nr] : 0;
		     i < t->nodes.nr; i++)
			put_node(&x, 0, x.children[i]);
		r = 0;
	}
	free(x.children);
	free(x.spots);
	free(x.targets);
	free(x.first_child);
	free(x.first_spot);
	free(x.first_target);
	return r;
}
