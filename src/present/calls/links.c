/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/calls/links.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "base/containers/map.h"

/* The links to callers or to callees, while they are sorted. */
struct side {
	const struct call_links *links;
	const struct call_lines *lines;
	bool to_callees;
};

static uint32_t call_links_line_of(const struct call_lines *lines, uint32_t row)
{
	return row == CALL_BY_UNKNOWN || !lines->line_of ? row : lines->line_of[row];
}

static int add_link(struct call_links *l, struct map *by, struct call_link link,
		    uint32_t *ret_number)
{
	bool is_new;
	struct map_slot *slot = map_at(by, link.caller, link.callee, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new) {
		if (!vec_push(&l->all, link))
			return -ENOMEM;
		slot->value_plus_1 = (uint32_t)l->all.nr;
	}
	*ret_number = slot->value_plus_1 - 1;
	return 0;
}

/* Merges arcs whose ends are in the same lines into a link. */
static int call_links_make_links(struct call_links *l, const struct profile *p,
				 const struct call_lines *lines)
{
	size_t nr = p->graph.arcs.nr;
	uint32_t *number_of = malloc((nr + 1) * sizeof(*number_of));
	struct map by = { 0 };
	int r = number_of ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++) {
		const struct call_arc *arc = &p->graph.arcs.at[i];
		struct call_link link = { call_links_line_of(lines, arc->caller),
					  call_links_line_of(lines, arc->callee) };

		r = add_link(l, &by, link, &number_of[i]);
	}
	map_done(&by);
	l->counts = calloc(l->all.nr * l->nr_columns + 1, sizeof(*l->counts));
	l->periods = calloc(l->all.nr * l->nr_columns + 1, sizeof(*l->periods));
	if (!l->counts || !l->periods)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++) {
		const struct call_arc *arc = &p->graph.arcs.at[i];
		size_t column = lines->column_of ? lines->column_of[arc->callee] : 0;
		size_t at = number_of[i] * l->nr_columns + column;

		l->counts[at] += arc->samples;
		l->periods[at] += arc->period;
	}
	free(number_of);
	return r;
}

static uint32_t rank(const struct side *s, uint32_t line)
{
	return line == CALL_BY_UNKNOWN || !s->lines->rank_of ? line
							     : s->lines->rank_of[line];
}

static uint64_t vma(const struct side *s, uint32_t line)
{
	return line == CALL_BY_UNKNOWN || !s->lines->vma_of ? 0
							    : s->lines->vma_of[line];
}

static int compare_links(const void *va, const void *vb, void *ctx)
{
	const struct side *s = ctx;
	uint32_t a = *(const uint32_t *)va;
	uint32_t b = *(const uint32_t *)vb;
	const struct call_link *link_a = &s->links->all.at[a];
	const struct call_link *link_b = &s->links->all.at[b];
	uint64_t count_a = s->links->counts[a * s->links->nr_columns];
	uint64_t count_b = s->links->counts[b * s->links->nr_columns];
	uint32_t line_a = s->to_callees ? link_a->callee : link_a->caller;
	uint32_t line_b = s->to_callees ? link_b->callee : link_b->caller;
	uint32_t rank_a = rank(s, line_a), rank_b = rank(s, line_b);
	uint64_t vma_a = vma(s, line_a), vma_b = vma(s, line_b);

	if (count_a != count_b)
		return (count_a < count_b) == !s->to_callees ? -1 : 1;
	if (vma_a != vma_b)
		return vma_a < vma_b ? -1 : 1;
	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

/* Groups the links by line, and sorts those of each line. */
static int order_side(struct side *s, uint32_t **ret_order, size_t **ret_from)
{
	size_t nr = s->links->all.nr;
	size_t nr_lines = s->lines->nr_lines;
	uint32_t *order = calloc(nr + 1, sizeof(*order));
	size_t *from = calloc(nr_lines + 2, sizeof(*from));

	*ret_order = order;
	*ret_from = from;
	if (!order || !from)
		return -ENOMEM;
	/* In the first pass, from[i + 1] is where the links of line i start.  It advances with
	 * each link, and ends up where they end. */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < nr; i++) {
			const struct call_link *link = &s->links->all.at[i];
			uint32_t line = s->to_callees ? link->caller : link->callee;

			if (line >= nr_lines)
				continue;
			if (pass)
				order[from[line + 1]++] = (uint32_t)i;
			else if (line + 1 < nr_lines)
				from[line + 2]++;
		}
		for (size_t i = 0; !pass && i < nr_lines; i++)
			from[i + 1] += from[i];
	}
	for (size_t i = 0; i < nr_lines; i++)
		qsort_r(order + from[i], from[i + 1] - from[i], sizeof(*order),
			compare_links, s);
	return 0;
}

int call_links_make(struct call_links *l, const struct profile *p,
		    const struct call_lines *lines)
{
	struct side callers = { l, lines, false };
	struct side callees = { l, lines, true };
	int r;

	*l = (struct call_links){ .nr_columns = lines->nr_columns };
	r = call_links_make_links(l, p, lines);
	if (!r)
		r = order_side(&callers, &l->callers, &l->callers_from);
	return r ? r : order_side(&callees, &l->callees, &l->callees_from);
}

void call_links_done(struct call_links *l)
{
	vec_done(&l->all);
	free(l->counts);
	free(l->periods);
	free(l->callers);
	free(l->callees);
	free(l->callers_from);
	free(l->callees_from);
	*l = (struct call_links){ 0 };
}
