/* SPDX-License-Identifier: GPL-2.0-or-later */
/* time_tree.c - the flame graph in order of time: a node for each uninterrupted run of the same
 * frame in a thread.
 * The threads are one after the other. Nodes with too few samples are dropped as soon as they end,
 * so memory grows with the answer only. */
#include <errno.h>
#include <stdlib.h>

#include "base/containers/sort_keys.h"
#include "view/tree.h"

/* A frame that has not ended. */
struct view_open_frame {
	uint32_t node;  /* of the model */
	uint32_t place; /* in the answer */
};

struct view_time_tree {
	const struct view_selection *s;
	struct view_tree *to;
	VEC(struct view_open_frame) open;
	VEC(uint32_t) path;
	uint64_t least;
};

/* Sorts the selected spans by thread and time; *ret_keys is malloc'd. */
static int view_time_tree_sort(const struct view_selection *s,
			       struct sort_key **ret_keys, size_t *ret_nr)
{
	const struct view_data *d = s->data;
	struct sort_key *keys = calloc(d->spans.nr + 1, sizeof(*keys));
	size_t nr = 0;
	int r = keys ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i + 1 < d->spans.nr; i++) {
		const struct view_span *span = &d->spans.at[i];

		if (view_selection_span(s, span))
			keys[nr++] = (struct sort_key){
				(uint64_t)d->tracks.at[span->track].thread << 32 |
					span->bin,
				i
			};
	}
	if (!r)
		r = sort_keys(&keys, nr);
	*ret_keys = keys;
	*ret_nr = nr;
	return r;
}

/* Ends the innermost open frame. */
static void view_time_tree_pop(struct view_time_tree *t)
{
	struct view_open_frame last = t->open.at[--t->open.nr];
	struct view_tree_node *nodes = t->to->nodes.at;
	struct view_tree_node *n = &nodes[last.place];

	if (t->open.nr)
		for (size_t side = 0; side < VIEW_SIDES; side++)
			nodes[t->open.at[t->open.nr - 1].place].total[side] +=
				n->total[side];
	/* Callees do not have more samples, so they were dropped before, and this is the last
	 * node. */
	if (view_tree_total(n) < t->least)
		t->to->nodes.nr = last.place;
}

static int view_time_tree_push(struct view_time_tree *t, uint32_t node)
{
	uint32_t place = (uint32_t)t->to->nodes.nr;
	struct view_tree_node n = { .function = t->s->data->nodes.at[node].function };

	if (t->open.nr)
		n.up = place - t->open.at[t->open.nr - 1].place;
	return vec_push(&t->to->nodes, n) &&
			       vec_push(&t->open,
					((struct view_open_frame){ node, place }))
		       ? 0
		       : -ENOMEM;
}

/* Returns the innermost open frame; NULL: no frame is open. */
static const struct view_open_frame *view_time_tree_last(const struct view_time_tree *t)
{
	return t->open.at && t->open.nr ? &t->open.at[t->open.nr - 1] : NULL;
}

static bool view_time_tree_contains(const struct view_time_tree *t,
				    const struct view_open_frame *last, uint32_t node)
{
	return last->node <= node && node < t->s->data->nodes.at[last->node].end;
}

/* Counts samples: ends the open frames that are not on their stack, and begins the others. */
static int view_time_tree_add(struct view_time_tree *t, uint32_t node, uint64_t count,
			      uint32_t side)
{
	const struct view_open_frame *last;
	struct view_tree_node *n;
	int r = 0;

	while ((last = view_time_tree_last(t)) &&
	       !view_time_tree_contains(t, last, node))
		view_time_tree_pop(t);
	t->path.nr = 0;
	for (uint32_t at = node; at != VIEW_NONE;
	     at = t->s->data->nodes.at[at].caller) {
		if (last && last->node == at)
			break;
		if (!vec_push(&t->path, at))
			return -ENOMEM;
	}
	while (!r && t->path.nr)
		r = view_time_tree_push(t, t->path.at[--t->path.nr]);
	last = view_time_tree_last(t);
	if (r || !last)
		return r;
	n = &t->to->nodes.at[last->place];
	n->self += count;
	n->total[side] += count;
	return 0;
}

static int view_time_tree_add_span(struct view_time_tree *t, uint32_t span)
{
	const struct view_data *d = t->s->data;
	uint32_t side = d->tracks.at[d->spans.at[span].track].side;
	int r = 0;

	for (uint32_t i = d->spans.at[span].at; !r && i < d->spans.at[span + 1].at; i++)
		if (!t->s->nodes || t->s->nodes[d->node_of.at[i]])
			r = view_time_tree_add(t, d->node_of.at[i], d->count_of.at[i],
					       side);
	return r;
}

static void view_time_tree_total(struct view_time_tree *t, const struct sort_key *keys,
				 size_t nr)
{
	const struct view_data *d = t->s->data;

	for (size_t i = 0; i < nr; i++) {
		const struct view_span *span = &d->spans.at[keys[i].index];

		t->to->total[d->tracks.at[span->track].side] +=
			view_selection_count(t->s, keys[i].index);
	}
}

int view_tree_make_by_time(struct view_tree *tree, const struct view_selection *s,
			   const struct view_tree_options *options)
{
	struct view_time_tree t = { .s = s, .to = tree };
	struct sort_key *keys;
	double least;
	size_t nr;
	int r = view_time_tree_sort(s, &keys, &nr);

	if (!r)
		view_time_tree_total(&t, keys, nr);
	least = (double)(tree->total[0] + tree->total[1]) * options->min;
	t.least = least > 1 ? (uint64_t)least : 1;
	for (size_t i = 0; !r && i < nr; i++) {
		if (i && keys[i].at >> 32 != keys[i - 1].at >> 32)
			while (t.open.nr)
				view_time_tree_pop(&t);
		r = view_time_tree_add_span(&t, keys[i].index);
	}
	while (!r && t.open.nr)
		view_time_tree_pop(&t);
	free(keys);
	vec_done(&t.open);
	vec_done(&t.path);
	if (!r)
		view_tree_limit(tree, options->limit);
	return r;
}
