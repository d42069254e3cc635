/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/sort_keys.h"

enum {
	DEPTH_MAX = 2000, /* of merged trees */
	SMALL_SORT = 256
};

/* Samples by node and recording. */
struct view_sums {
	uint64_t *self;
	uint64_t *total; /* including callees */
};

/* A node of the model, and the samples that a merged tree counts there. */
struct view_merge_item {
	uint32_t node;
	uint32_t function;
	uint64_t count[VIEW_SIDES];
};

typedef VEC(struct view_merge_item) view_merge_items;

/* A merged tree while it is made. */
struct view_merge {
	const struct view_data *d;
	const struct view_sums *sums;
	struct view_tree *to;
	bool callers;
	uint64_t least;
};

/* ---- sums ---- */

static int view_sums_make(struct view_sums *s, const struct view_selection *of)
{
	const struct view_data *d = of->data;
	size_t nr = d->nodes.nr * VIEW_SIDES;

	*s = (struct view_sums){ calloc(nr + 1, sizeof(*s->self)),
				 calloc(nr + 1, sizeof(*s->total)) };
	if (!s->self || !s->total)
		return -ENOMEM;
	view_selection_sum(of, s->self, true);
	memcpy(s->total, s->self, nr * sizeof(*s->total));
	for (uint32_t i = (uint32_t)d->nodes.nr; i-- > 0;) {
		uint32_t caller = d->nodes.at[i].caller;

		if (caller == VIEW_NONE)
			continue;
		for (size_t side = 0; side < VIEW_SIDES; side++)
			s->total[caller * VIEW_SIDES + side] +=
				s->total[i * VIEW_SIDES + side];
	}
	return 0;
}

static void view_sums_done(struct view_sums *s)
{
	free(s->self);
	free(s->total);
}

static uint64_t view_sums_both(const uint64_t *sums, uint32_t node)
{
	return sums[node * VIEW_SIDES] + sums[node * VIEW_SIDES + 1];
}

/* ---- calls ---- */

static size_t view_tree_count(const struct view_data *d, const struct view_sums *s,
			      uint64_t least)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < d->nodes.nr; i++)
		nr += view_sums_both(s->total, i) >= least;
	return nr;
}

/* Returns the lowest threshold, but at least `least`, that not more than `limit` nodes reach with
 * their samples. */
static uint64_t view_tree_least(const struct view_data *d, const struct view_sums *s,
				uint64_t least, const struct view_tree *t, size_t limit)
{
	uint64_t high = t->total[0] + t->total[1] + 1;

	if (view_tree_count(d, s, least) <= limit)
		return least;
	while (least + 1 < high) {
		uint64_t middle = least + (high - least) / 2;

		if (view_tree_count(d, s, middle) > limit)
			least = middle;
		else
			high = middle;
	}
	return high;
}

/* Copies the nodes with enough samples. Callers have at least the samples of their callees. */
static int view_tree_copy(struct view_tree *t, const struct view_data *d,
			  const struct view_sums *s, uint64_t least)
{
	uint32_t *place_of = malloc((d->nodes.nr + 1) * sizeof(*place_of));
	int r = place_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < d->nodes.nr; i++) {
		const struct view_node *from = &d->nodes.at[i];
		struct view_tree_node n = { .function = from->function,
					    .self = view_sums_both(s->self, i) };

		if (view_sums_both(s->total, i) < least) {
			i = from->end - 1;
			continue;
		}
		place_of[i] = (uint32_t)t->nodes.nr;
		if (from->caller != VIEW_NONE)
			n.up = place_of[i] - place_of[from->caller];
		memcpy(n.total, &s->total[i * VIEW_SIDES], sizeof(n.total));
		r = vec_push(&t->nodes, n) ? 0 : -ENOMEM;
	}
	free(place_of);
	return r;
}

/* ---- merged trees ---- */

static int view_merge_compare(const void *va, const void *vb)
{
	const struct view_merge_item *a = va, *b = vb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static int view_merge_sort_large(view_merge_items *items)
{
	struct sort_key *keys = calloc(items->nr, sizeof(*keys));
	struct view_merge_item *sorted = calloc(items->nr, sizeof(*sorted));
	int r = keys && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < items->nr; i++)
		keys[i] = (struct sort_key){
			(uint64_t)items->at[i].function << 32 | items->at[i].node, i
		};
	if (!r)
		r = sort_keys(&keys, items->nr);
	for (size_t i = 0; !r && i < items->nr; i++)
		sorted[i] = items->at[keys[i].index];
	if (!r)
		memcpy(items->at, sorted, items->nr * sizeof(*sorted));
	free(keys);
	free(sorted);
	return r;
}

/* Sorts the items by function and node, and adds up those of the same node. */
static int view_merge_sort(view_merge_items *items)
{
	size_t to = 0;
	int r = 0;

	if (items->nr >= SMALL_SORT)
		r = view_merge_sort_large(items);
	else if (items->nr)
		qsort(items->at, items->nr, sizeof(*items->at), view_merge_compare);
	for (size_t i = 0; !r && i < items->nr; i++) {
		if (!to || items->at[to - 1].node != items->at[i].node) {
			items->at[to++] = items->at[i];
			continue;
		}
		for (size_t side = 0; side < VIEW_SIDES; side++)
			items->at[to - 1].count[side] += items->at[i].count[side];
	}
	items->nr = to;
	return r;
}

/* Adds the callers of an item's node, or its callees, to `to`. */
static bool view_merge_step(const struct view_merge *m,
			    const struct view_merge_item *from, view_merge_items *to)
{
	const struct view_node *nodes = m->d->nodes.at;
	const struct view_node *n = &nodes[from->node];
	struct view_merge_item item = *from;

	if (m->callers) {
		item.node = n->caller;
		if (n->caller == VIEW_NONE)
			return true;
		item.function = nodes[n->caller].function;
		return vec_push(to, item);
	}
	for (uint32_t at = from->node + 1; at < n->end; at = nodes[at].end) {
		if (!view_sums_both(m->sums->total, at))
			continue;
		item = (struct view_merge_item){ at, nodes[at].function, { 0 } };
		memcpy(item.count, &m->sums->total[at * VIEW_SIDES],
		       sizeof(item.count));
		if (!vec_push(to, item))
			return false;
	}
	return true;
}

/* Returns the samples of an item whose path ends at its node: for a tree of callers, those without
 * another caller; for a tree of callees, those of the function itself. */
static uint64_t view_merge_self(const struct view_merge *m,
				const struct view_merge_item *item)
{
	if (!m->callers)
		return view_sums_both(m->sums->self, item->node);
	return m->d->nodes.at[item->node].caller == VIEW_NONE
		       ? item->count[0] + item->count[1]
		       : 0;
}

static int view_merge_groups(struct view_merge *m, const view_merge_items *items,
			     uint32_t caller, unsigned int depth);

/* Adds a node for items of the same function, and the nodes below it. */
static int view_merge_group(struct view_merge *m, const struct view_merge_item *items,
			    size_t nr, uint32_t caller, unsigned int depth)
{
	struct view_tree_node n = { .function = items[0].function };
	uint32_t place = (uint32_t)m->to->nodes.nr;
	view_merge_items next = { 0 };
	int r = 0;

	for (size_t i = 0; i < nr; i++) {
		n.self += view_merge_self(m, &items[i]);
		for (size_t side = 0; side < VIEW_SIDES; side++)
			n.total[side] += items[i].count[side];
	}
	if (view_tree_total(&n) < m->least)
		return 0;
	n.up = caller == VIEW_NONE ? 0 : place - caller;
	if (!vec_push(&m->to->nodes, n))
		return -ENOMEM;
	for (size_t i = 0; !r && i < nr; i++)
		r = view_merge_step(m, &items[i], &next) ? 0 : -ENOMEM;
	if (!r)
		r = view_merge_sort(&next);
	if (!r && depth < DEPTH_MAX)
		r = view_merge_groups(m, &next, place, depth + 1);
	vec_done(&next);
	return r;
}

static int view_merge_groups(struct view_merge *m, const view_merge_items *items,
			     uint32_t caller, unsigned int depth)
{
	int r = 0;

	for (size_t at = 0, end; !r && at < items->nr; at = end) {
		end = at + 1;
		while (end < items->nr &&
		       items->at[end].function == items->at[at].function)
			end++;
		r = view_merge_group(m, &items->at[at], end - at, caller, depth);
	}
	return r;
}

/* Adds the nodes where a merged tree begins: all nodes with samples or, for a tree of a function,
 * its outermost nodes. */
static int view_merge_begin(struct view_merge *m,
			    const struct view_tree_options *options,
			    view_merge_items *to)
{
	const struct view_data *d = m->d;
	bool all = options->kind == VIEW_TREE_CALLERS;
	const uint64_t *counts = all ? m->sums->self : m->sums->total;

	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		const struct view_node *n = &d->nodes.at[i];
		struct view_merge_item item = { .node = i, .function = n->function };

		if (!all && n->function != options->function)
			continue;
		memcpy(item.count, &counts[i * VIEW_SIDES], sizeof(item.count));
		if (item.count[0] + item.count[1] && !vec_push(to, item))
			return -ENOMEM;
		if (!all)
			i = n->end - 1;
	}
	return view_merge_sort(to);
}

static int view_tree_merge(struct view_tree *t, const struct view_data *d,
			   const struct view_sums *sums,
			   const struct view_tree_options *options, uint64_t least)
{
	struct view_merge m = { .d = d,
				.sums = sums,
				.to = t,
				.callers = options->kind != VIEW_TREE_FUNCTION_CALLEES,
				.least = least };
	view_merge_items items = { 0 };
	int r = view_merge_begin(&m, options, &items);

	if (!r)
		r = view_merge_groups(&m, &items, VIEW_NONE, 0);
	vec_done(&items);
	if (!r)
		view_tree_limit(t, options->limit);
	return r;
}

/* ---- all ---- */

/* Returns the lowest threshold that not more than `limit` nodes reach with their samples. */
static uint64_t view_tree_lowest(const struct view_tree *t, size_t limit)
{
	uint64_t low = 0, high = 1;

	for (size_t i = 0; i < t->nodes.nr; i++)
		if (view_tree_total(&t->nodes.at[i]) >= high)
			high = view_tree_total(&t->nodes.at[i]) + 1;
	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;
		size_t nr = 0;

		for (size_t i = 0; i < t->nodes.nr; i++)
			nr += view_tree_total(&t->nodes.at[i]) >= middle;
		if (nr > limit)
			low = middle;
		else
			high = middle;
	}
	return high;
}

void view_tree_limit(struct view_tree *t, size_t limit)
{
	uint64_t least;
	uint32_t *place_of;
	size_t to = 0;

	if (t->nodes.nr <= limit)
		return;
	place_of = malloc(t->nodes.nr * sizeof(*place_of));
	if (!place_of)
		return;
	least = view_tree_lowest(t, limit);
	for (size_t i = 0; i < t->nodes.nr; i++) {
		struct view_tree_node n = t->nodes.at[i];

		if (view_tree_total(&n) < least)
			continue;
		place_of[i] = (uint32_t)to;
		if (n.up)
			n.up = place_of[i] - place_of[i - n.up];
		t->nodes.at[to++] = n;
	}
	t->nodes.nr = to;
	free(place_of);
}

static uint64_t view_tree_min(const struct view_tree *t,
			      const struct view_tree_options *options)
{
	double least = (double)(t->total[0] + t->total[1]) * options->min;

	return least > 1 ? (uint64_t)least : 1;
}

static int view_tree_make_by_calls(struct view_tree *t, const struct view_data *d,
				   const struct view_sums *sums,
				   const struct view_tree_options *options)
{
	uint64_t least = view_tree_min(t, options);

	if (options->kind != VIEW_TREE_CALLS)
		return view_tree_merge(t, d, sums, options, least);
	least = view_tree_least(d, sums, least, t, options->limit);
	return view_tree_copy(t, d, sums, least);
}

/* Sets t->omitted to the samples that are not in the `self` of any node. */
static void view_tree_omit(struct view_tree *t)
{
	uint64_t shown = 0;

	for (size_t i = 0; i < t->nodes.nr; i++)
		shown += t->nodes.at[i].self;
	t->omitted = t->total[0] + t->total[1] - shown;
}

/* Sets t->total: all selected samples or, for a tree of a function, those with the function on
 * their stack. */
static void view_tree_sum(struct view_tree *t, const struct view_data *d,
			  const struct view_sums *sums,
			  const struct view_tree_options *options)
{
	bool function = options->kind == VIEW_TREE_FUNCTION_CALLEES ||
			options->kind == VIEW_TREE_FUNCTION_CALLERS;

	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		const struct view_node *n = &d->nodes.at[i];

		if (function && n->function != options->function)
			continue;
		for (size_t side = 0; side < VIEW_SIDES; side++)
			t->total[side] += sums->total[i * VIEW_SIDES + side];
		i = n->end - 1;
	}
}

int view_tree_make(struct view_tree *t, const struct view_selection *s,
		   const struct view_tree_options *options)
{
	struct view_sums sums;
	int r;

	*t = (struct view_tree){ 0 };
	if (options->kind == VIEW_TREE_TIME) {
		r = view_tree_make_by_time(t, s, options);
	} else {
		r = view_sums_make(&sums, s);
		if (!r)
			view_tree_sum(t, s->data, &sums, options);
		if (!r)
			r = view_tree_make_by_calls(t, s->data, &sums, options);
		view_sums_done(&sums);
	}
	if (!r)
		view_tree_omit(t);
	return r;
}

void view_tree_done(struct view_tree *t)
{
	vec_done(&t->nodes);
}
