/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/tree_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/call_sums.h"
#include "aggregate/profile/profile.h"
#include "present/lines/percent.h"

/* A node of the call tree that contributes to a line.  `origin` is the node whose samples count:
 * the node itself towards callees, or the start node of the path towards callers. */
struct tree_lines_item {
	uint32_t node;
	uint32_t origin;
};

/* The items of a function, which become a line. */
struct group {
	uint32_t function; /* DICT_NONE: CALL_TRUNCATED */
	uint32_t nr;
	uint32_t first; /* index of the first item */
	uint64_t samples;
};

/* A line that is not yet written.  Its items are on the stack of items, at the top when the line
 * is processed. */
struct tree_lines_work {
	uint32_t function;
	uint32_t above;
	uint32_t nr;
	uint32_t depth;
	uint32_t level;
	bool chained;
	bool is_last;
};

struct tree_lines_maker {
	struct profile *p;
	const struct tree_how *how;
	VEC(struct tree_lines_item) stack;
	VEC(struct tree_lines_work) works;
	VEC(struct tree_lines_item) items; /* of the current line */
	/* The items that are one step further from the focus. */
	VEC(struct tree_lines_item) found;
	VEC(struct tree_lines_item) grouped;
	VEC(struct group) groups;
	/* By function: number of its group + 1; the last element is for DICT_NONE. */
	uint32_t *group_of;
	uint64_t *counts; /* four per column: the sums of a line */
};

static uint32_t function_of(const struct tree_lines_maker *m, uint32_t node)
{
	return m->p->calls.nodes.at[node].function;
}

/* Returns whether the node itself counts.  Towards callers without a focus, a path starts at the
 * sampled function. */
static bool counts_self(const struct tree_lines_maker *m)
{
	return m->how->part == TREE_CALLERS && !m->how->focus;
}

static uint64_t item_samples(const struct tree_lines_maker *m,
			     const struct tree_lines_item *item, size_t column)
{
	const struct call_sum *sum = call_sums_at(m->how->sums, item->origin, column);

	return counts_self(m) ? sum->self : sum->samples;
}

/* ---- one step ---- */

static bool found(struct tree_lines_maker *m, uint32_t node, uint32_t origin)
{
	return vec_push(&m->found, (struct tree_lines_item){ node, origin });
}

static int step_inwards(struct tree_lines_maker *m)
{
	const struct call_sums *s = m->how->sums;

	for (size_t i = 0; i < m->items.nr; i++)
		for (uint32_t n = s->first[m->items.at[i].node]; n != DICT_NONE;
		     n = s->next[n])
			if (!found(m, n, n))
				return -ENOMEM;
	return 0;
}

/* Adds the items of the callers.  A root has no line for its caller; a truncated stack has a line
 * that represents the unknown callers. */
static int step_outwards(struct tree_lines_maker *m)
{
	for (size_t i = 0; i < m->items.nr; i++) {
		const struct tree_lines_item *item = &m->items.at[i];
		uint32_t caller = m->p->calls.nodes.at[item->node].caller;

		if (item->node >= CALL_FIRST && caller != CALL_ROOT &&
		    !found(m, caller, item->origin))
			return -ENOMEM;
	}
	return 0;
}

/* Groups the items in m->found: fills m->groups, and sorts their items into m->grouped. */
static int tree_lines_group(struct tree_lines_maker *m)
{
	size_t nr_functions = m->p->functions.nr;
	uint32_t first = 0;

	m->groups.nr = 0;
	m->grouped.nr = 0;
	if (!vec_reserve(&m->grouped, m->found.nr))
		return -ENOMEM;
	for (size_t i = 0; i < m->found.nr; i++) {
		uint32_t function = function_of(m, m->found.at[i].node);
		uint32_t *at =
			&m->group_of[function < nr_functions ? function : nr_functions];

		if (!*at) {
			if (!vec_push(&m->groups,
				      (struct group){ .function = function }))
				return -ENOMEM;
			*at = (uint32_t)m->groups.nr;
		}
		m->groups.at[*at - 1].nr++;
		m->groups.at[*at - 1].samples +=
			item_samples(m, &m->found.at[i], m->how->lead);
	}
	for (size_t i = 0; i < m->groups.nr; i++) {
		m->groups.at[i].first = first;
		first += m->groups.at[i].nr;
	}
	for (size_t i = 0; i < m->found.nr; i++) {
		uint32_t function = function_of(m, m->found.at[i].node);
		uint32_t at =
			m->group_of[function < nr_functions ? function : nr_functions];

		m->grouped.at[m->groups.at[at - 1].first++] = m->found.at[i];
	}
	m->grouped.nr = m->found.nr;
	for (size_t i = 0; i < m->groups.nr; i++) {
		uint32_t function = m->groups.at[i].function;

		m->groups.at[i].first -= m->groups.at[i].nr;
		m->group_of[function < nr_functions ? function : nr_functions] = 0;
	}
	return 0;
}

static const char *tree_lines_name_of(struct profile *p, uint32_t function)
{
	const char *name =
		function == DICT_NONE ? NULL : profile_function_name(p, function);

	return name ? name : "";
}

/* Orders functions of equal name by image and address, independent of the order of the samples. */
static int compare_duplicates(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_function *fa = &p->functions.at[a];
	const struct profile_function *fb = &p->functions.at[b];
	int order = strcmp(strtab_get(&p->strings, p->images.at[fa->image].name),
			   strtab_get(&p->strings, p->images.at[fb->image].name));

	if (order)
		return order;
	if (fa->vma != fb->vma)
		return fa->vma < fb->vma ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Sorts groups by samples, most first. Truncated stacks come last because they are the least
 * informative. */
static int tree_lines_compare_groups(const void *va, const void *vb, void *ctx)
{
	const struct group *a = va;
	const struct group *b = vb;
	int order;

	if ((a->function == DICT_NONE) != (b->function == DICT_NONE))
		return a->function == DICT_NONE ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	order = strcmp(tree_lines_name_of(ctx, a->function),
		       tree_lines_name_of(ctx, b->function));
	return order || a->function == b->function
		       ? order
		       : compare_duplicates(ctx, a->function, b->function);
}

/* Drops groups below the threshold.  Sets *ret_all if none was dropped. */
static void cut_groups(struct tree_lines_maker *m, bool *ret_all)
{
	size_t nr = 0;

	for (size_t i = 0; i < m->groups.nr; i++)
		if (m->groups.at[i].samples &&
		    percent_of(m->groups.at[i].samples, m->how->total) >=
			    m->how->threshold)
			m->groups.at[nr++] = m->groups.at[i];
	*ret_all = nr == m->groups.nr;
	m->groups.nr = nr;
	if (nr)
		qsort_r(m->groups.at, nr, sizeof(*m->groups.at),
			tree_lines_compare_groups, m->p);
}

/* Pushes the groups as lines below `above` (NULL: none), the first one on top. */
static int push_lines(struct tree_lines_maker *m, const struct tree_lines_work *above,
		      bool chained)
{
	for (size_t i = m->groups.nr; i-- > 0;) {
		const struct group *g = &m->groups.at[i];
		struct tree_lines_work w = { .function = g->function,
					     .above = above ? above->function
							    : DICT_NONE,
					     .nr = g->nr,
					     .chained = chained,
					     .is_last = i + 1 == m->groups.nr };

		if (above) {
			w.depth = above->depth + 1;
			w.level = above->level + !chained;
		}
		if (!vec_push(&m->works, w) ||
		    !vec_reserve(&m->stack, m->stack.nr + g->nr))
			return -ENOMEM;
		memcpy(m->stack.at + m->stack.nr, m->grouped.at + g->first,
		       g->nr * sizeof(*m->stack.at));
		m->stack.nr += g->nr;
	}
	return 0;
}

/* ---- lines ---- */

static void tree_lines_sum_up(struct tree_lines_maker *m)
{
	size_t nr = m->how->sums->nr_columns;
	bool inwards = m->how->part == TREE_CALLEES;

	memset(m->counts, 0, 4 * nr * sizeof(*m->counts));
	for (size_t i = 0; i < m->items.nr; i++) {
		const struct call_sum *sum =
			call_sums_at(m->how->sums, m->items.at[i].origin, 0);

		for (size_t c = 0; c < nr; c++) {
			m->counts[c] += counts_self(m) ? sum[c].self : sum[c].samples;
			m->counts[nr + c] +=
				counts_self(m) ? sum[c].self_period : sum[c].period;
			if (!inwards)
				continue;
			m->counts[2 * nr + c] += sum[c].self;
			m->counts[3 * nr + c] += sum[c].self_period;
		}
	}
}

/* Returns true if all samples of the line continue in its only child line. */
static bool is_chain(const struct tree_lines_maker *m, bool is_all)
{
	size_t nr = m->how->sums->nr_columns;

	if (!m->how->chains || !is_all || m->groups.nr != 1)
		return false;
	for (size_t c = 0; c < nr; c++) {
		uint64_t next = 0;

		for (size_t i = 0; i < m->grouped.nr; i++)
			next += item_samples(m, &m->grouped.at[i], c);
		if (next != m->counts[c])
			return false;
	}
	return true;
}

static int tree_lines_put_line(struct tree_lines_maker *m,
			       const struct tree_lines_work *w)
{
	size_t nr = m->how->sums->nr_columns;
	const struct tree_line line = { .part = m->how->part,
					.function = w->function,
					.above = w->above,
					.depth = w->depth,
					.level = w->level,
					.chained = w->chained,
					.is_last = w->is_last,
					.samples = m->counts,
					.periods = m->counts + nr,
					.self = m->counts + 2 * nr,
					.self_periods = m->counts + 3 * nr };

	return m->how->put(m->how->ctx, &line);
}

/* Pops the items of the top line. */
static int take_items(struct tree_lines_maker *m, uint32_t nr)
{
	m->items.nr = 0;
	if (!vec_reserve(&m->items, nr))
		return -ENOMEM;
	m->stack.nr -= nr;
	memcpy(m->items.at, m->stack.at + m->stack.nr, nr * sizeof(*m->items.at));
	m->items.nr = nr;
	return 0;
}

static int put_works(struct tree_lines_maker *m)
{
	while (m->works.nr) {
		struct tree_lines_work w = m->works.at[--m->works.nr];
		bool is_all;
		int r = take_items(m, w.nr);

		if (!r) {
			tree_lines_sum_up(m);
			r = tree_lines_put_line(m, &w);
		}
		m->found.nr = 0;
		if (!r)
			r = m->how->part == TREE_CALLEES ? step_inwards(m)
							 : step_outwards(m);
		if (!r)
			r = tree_lines_group(m);
		if (r)
			return r;
		cut_groups(m, &is_all);
		r = push_lines(m, &w, is_chain(m, is_all));
		if (r)
			return r;
	}
	return 0;
}

/* ---- the first lines ---- */

/* Finds the outermost focused function of each stack, so that recursion counts once. */
static int tree_lines_find_focus(struct tree_lines_maker *m)
{
	size_t nr = m->p->calls.nodes.nr;
	uint8_t *inside = calloc(nr + 1, sizeof(*inside));
	int r = inside ? 0 : -ENOMEM;

	for (uint32_t n = CALL_FIRST; !r && n < nr; n++) {
		bool is = m->how->focus[function_of(m, n)];
		bool before = inside[m->p->calls.nodes.at[n].caller];

		inside[n] = is || before;
		if (is && !before && !found(m, n, n))
			r = -ENOMEM;
	}
	free(inside);
	return r;
}

static int tree_lines_find_samples(struct tree_lines_maker *m)
{
	for (uint32_t n = CALL_FIRST; n < m->p->calls.nodes.nr; n++) {
		const struct call_sum *sum = call_sums_at(m->how->sums, n, 0);
		bool any = false;

		for (size_t c = 0; c < m->how->sums->nr_columns; c++)
			any |= sum[c].self != 0;
		if (any && !found(m, n, n))
			return -ENOMEM;
	}
	return 0;
}

static int find_roots(struct tree_lines_maker *m)
{
	const struct call_sums *s = m->how->sums;

	for (uint32_t n = s->first[CALL_ROOT]; n != DICT_NONE; n = s->next[n])
		if (!found(m, n, n))
			return -ENOMEM;
	return found(m, CALL_TRUNCATED, CALL_TRUNCATED) ? 0 : -ENOMEM;
}

int tree_lines_put(struct profile *p, const struct tree_how *how)
{
	struct tree_lines_maker m = { .p = p, .how = how };
	bool is_all;
	int r = -ENOMEM;

	m.group_of = calloc(p->functions.nr + 1, sizeof(*m.group_of));
	m.counts = calloc(4 * how->sums->nr_columns + 1, sizeof(*m.counts));
	if (p->calls.nodes.nr < CALL_FIRST)
		r = 0;
	else if (m.group_of && m.counts)
		r = how->focus                  ? tree_lines_find_focus(&m)
		    : how->part == TREE_CALLERS ? tree_lines_find_samples(&m)
						: find_roots(&m);
	if (!r)
		r = tree_lines_group(&m);
	if (!r) {
		cut_groups(&m, &is_all);
		r = push_lines(&m, NULL, false);
	}
	if (!r)
		r = put_works(&m);
	vec_done(&m.stack);
	vec_done(&m.works);
	vec_done(&m.items);
	vec_done(&m.found);
	vec_done(&m.grouped);
	vec_done(&m.groups);
	free(m.group_of);
	free(m.counts);
	return r;
}
