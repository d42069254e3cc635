/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/call_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "aggregate/profile/profile.h"
#include "base/containers/sort_keys.h"

/* An entry made from a row of the profile: the samples at a node of the call tree. */
struct call_graph_item {
	uint32_t who;
	uint32_t event;
	uint32_t node;
	uint64_t samples;
	uint64_t period;
};

/* A node of the subtree that has the samples of a (who, event) pair.  Callers have lower
 * numbers. */
struct call_graph_local {
	uint32_t node;
	uint32_t caller;
	uint32_t first; /* first callee; 0: none */
	uint32_t next;  /* next callee of its caller */
	struct call_total total;
};

/* A function on the path from the root to the current node. */
struct call_graph_step {
	uint32_t row;
	uint32_t arc;
};

struct call_graph_walk {
	struct profile *p;
	struct call_graph_item *items;
	size_t nr_items;
	uint32_t who; /* the pair that is processed */
	uint32_t event;
	uint32_t *local_of; /* by node; 0: none */
	VEC(struct call_graph_local) locals;
	uint32_t *row_of;     /* by tuple of GROUP_WHERE; DICT_NONE: none yet */
	VEC(uint32_t) wheres; /* the tuples that have a row */
	VEC(struct call_graph_step) path;
	/* By row: how often its function occurs on the current path. */
	VEC(uint32_t) open_rows;
	VEC(uint32_t) open_arcs;
	struct map arc_by; /* (caller, callee) */
};

void call_graph_done(struct call_graph *g)
{
	vec_done(&g->totals);
	vec_done(&g->arcs);
}

/* Converts the rows to items, grouped by (who, event) and sorted by node. */
static int collect_items(struct call_graph_walk *w)
{
	const struct profile *p = w->p;
	size_t nr = p->rows.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r;

	w->items = malloc((nr + 1) * sizeof(*w->items));
	if (!keys || !w->items) {
		free(keys);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++)
		keys[i] = (struct sort_key){ profile_node(p, p->rows.at[i].group),
					     (uint32_t)i };
	r = sort_keys(&keys, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct profile_row *row = &p->rows.at[keys[i].index];
		uint32_t who = p->groups.at[row->group].tuple[GROUP_WHO];

		keys[i].at = (uint64_t)who << 32 | row->event;
	}
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct profile_row *row = &p->rows.at[keys[i].index];

		w->items[i] =
			(struct call_graph_item){ .who = (uint32_t)(keys[i].at >> 32),
						  .event = row->event,
						  .node = profile_node(p, row->group),
						  .samples = row->samples,
						  .period = row->period };
	}
	w->nr_items = nr;
	free(keys);
	return r;
}

/* ---- the subtree ---- */

static bool add_local(struct call_graph_walk *w, uint32_t node)
{
	w->local_of[node] = 1; /* a placeholder for its number */
	return vec_push(&w->locals, (struct call_graph_local){ .node = node });
}

static int call_graph_compare_locals(const void *a, const void *b)
{
	const struct call_graph_local *x = a;
	const struct call_graph_local *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

/* Sorts by node; if most nodes are used, scans all nodes instead. */
static void order_locals(struct call_graph_walk *w)
{
	size_t nr_nodes = w->p->calls.nodes.nr;
	size_t at = 0;

	if (w->locals.nr < nr_nodes / 16) {
		qsort(w->locals.at, w->locals.nr, sizeof(*w->locals.at),
		      call_graph_compare_locals);
		return;
	}
	for (uint32_t node = 0; node < nr_nodes; node++)
		if (w->local_of[node])
			w->locals.at[at++] = (struct call_graph_local){ .node = node };
}

/* Numbers the nodes on the stacks of the items. Number 0 is the root, which is not a callee; 1 is
 * the root of truncated stacks. Returns 0 or -ENOMEM. */
static int make_locals(struct call_graph_walk *w, const struct call_graph_item *items,
		       size_t nr)
{
	const struct call_node *nodes = w->p->calls.nodes.at;

	w->locals.nr = 0;
	if (!add_local(w, CALL_ROOT) || !add_local(w, CALL_TRUNCATED))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		for (uint32_t node = items[i].node; !w->local_of[node];
		     node = nodes[node].caller)
			if (!add_local(w, node))
				return -ENOMEM;
	order_locals(w);
	for (uint32_t i = 0; i < w->locals.nr; i++)
		w->local_of[w->locals.at[i].node] = i;
	for (uint32_t i = CALL_FIRST; i < w->locals.nr; i++)
		w->locals.at[i].caller =
			w->local_of[nodes[w->locals.at[i].node].caller];
	return 0;
}

static void call_graph_sum_up(struct call_graph_walk *w,
			      const struct call_graph_item *items, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct call_graph_local *l = &w->locals.at[w->local_of[items[i].node]];

		l->total.samples += items[i].samples;
		l->total.period += items[i].period;
	}
	for (uint32_t i = (uint32_t)w->locals.nr; i-- > CALL_FIRST;) {
		struct call_graph_local *l = &w->locals.at[i];
		struct call_graph_local *caller = &w->locals.at[l->caller];

		caller->total.samples += l->total.samples;
		caller->total.period += l->total.period;
		l->next = caller->first;
		caller->first = i;
	}
}

static void forget_locals(struct call_graph_walk *w)
{
	for (size_t i = 0; i < w->locals.nr; i++)
		w->local_of[w->locals.at[i].node] = 0;
	for (size_t i = 0; i < w->wheres.nr; i++)
		w->row_of[w->wheres.at[i]] = DICT_NONE;
	w->wheres.nr = 0;
}

/* ---- functions and calls ---- */

/* Returns the row of a node's function; DICT_NONE if memory is short. */
static uint32_t row_of_node(struct call_graph_walk *w, uint32_t node)
{
	struct profile *p = w->p;
	uint32_t where = p->tuple_of_function.at[p->calls.nodes.at[node].function];
	uint32_t row;

	if (w->row_of[where] != DICT_NONE)
		return w->row_of[where];
	row = groups_row_of(p, w->who, where, w->event);
	if (row == DICT_NONE || !vec_push(&w->wheres, where))
		return DICT_NONE;
	while (p->graph.totals.nr < p->rows.nr)
		if (!vec_push(&p->graph.totals, (struct call_total){ 0 }) ||
		    !vec_push(&w->open_rows, 0))
			return DICT_NONE;
	w->row_of[where] = row;
	return row;
}

static uint32_t arc_of(struct call_graph_walk *w, uint32_t caller, uint32_t callee)
{
	struct call_graph *g = &w->p->graph;
	struct call_arc arc = { .caller = caller, .callee = callee };
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&w->arc_by, caller, callee, &is_new);
	if (!slot)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&g->arcs, arc) || !vec_push(&w->open_arcs, 0))
			return DICT_NONE;
		slot->value_plus_1 = (uint32_t)g->arcs.nr;
	}
	return slot->value_plus_1 - 1;
}

static void call_graph_add(struct call_total *to, const struct call_total *from)
{
	to->samples += from->samples;
	to->period += from->period;
}

/* Counts the samples of a function or call unless it is already on the path. */
static int call_graph_enter(struct call_graph_walk *w, const struct call_graph_local *l)
{
	struct call_graph_step s = { row_of_node(w, l->node), DICT_NONE };
	/* The caller of a top-level function is CALL_ROOT, which is not a call, or
	 * CALL_TRUNCATED. */
	uint32_t caller = w->path.nr ? w->path.at[w->path.nr - 1].row : CALL_BY_UNKNOWN;
	struct call_arc *arc;

	if (s.row == DICT_NONE)
		return -ENOMEM;
	if (!w->open_rows.at[s.row]++)
		call_graph_add(&w->p->graph.totals.at[s.row], &l->total);
	if (l->caller != CALL_ROOT) {
		s.arc = arc_of(w, caller, s.row);
		if (s.arc == DICT_NONE)
			return -ENOMEM;
		arc = &w->p->graph.arcs.at[s.arc];
		if (!w->open_arcs.at[s.arc]++) {
			arc->samples += l->total.samples;
			arc->period += l->total.period;
		}
	}
	return vec_push(&w->path, s) ? 0 : -ENOMEM;
}

static void leave(struct call_graph_walk *w)
{
	const struct call_graph_step *s = &w->path.at[--w->path.nr];

	w->open_rows.at[s->row]--;
	if (s->arc != DICT_NONE)
		w->open_arcs.at[s->arc]--;
}

/* Visits all nodes below a root, callers before callees. */
static int walk_over(struct call_graph_walk *w, uint32_t root)
{
	uint32_t at = w->locals.at[root].first;

	while (at) {
		if (call_graph_enter(w, &w->locals.at[at]))
			return -ENOMEM;
		if (w->locals.at[at].first) {
			at = w->locals.at[at].first;
			continue;
		}
		for (; at != root; at = w->locals.at[at].caller) {
			leave(w);
			if (w->locals.at[at].next)
				break;
		}
		at = at == root ? 0 : w->locals.at[at].next;
	}
	return 0;
}

static int add_own(struct call_graph_walk *w, const struct call_graph_item *items,
		   size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t row;

		if (items[i].node < CALL_FIRST)
			continue;
		row = row_of_node(w, items[i].node);
		if (row == DICT_NONE)
			return -ENOMEM;
		w->p->rows.at[row].samples += items[i].samples;
		w->p->rows.at[row].period += items[i].period;
	}
	return 0;
}

/* Returns the event that the calls of `event` (EVENT_CALLS) belong to; DICT_NONE if none of its
 * samples was counted. */
static uint32_t call_graph_main_event(const struct profile *p, uint32_t event)
{
	const struct profile_event *e = &p->events.at[event];

	for (uint32_t i = 0; i < p->events.nr; i++) {
		const struct profile_event *other = &p->events.at[i];

		if (other->name == e->name && other->count == e->count &&
		    other->unit_mask == e->unit_mask && !(other->flags & EVENT_CALLS))
			return i;
	}
	return DICT_NONE;
}

/* Adds the numbers of calls (EVENT_CALLS) to the arcs. It is unknown how many samples these calls
 * have, so the totals of functions do not change. */
static int call_graph_take_calls(struct call_graph_walk *w,
				 const struct call_graph_item *items, size_t nr)
{
	const struct call_node *nodes = w->p->calls.nodes.at;

	for (size_t i = 0; i < nr; i++) {
		uint32_t node = items[i].node;
		uint32_t caller, callee, number;
		struct call_arc *arc;

		if (node < CALL_FIRST || nodes[node].caller < CALL_FIRST)
			continue;
		caller = row_of_node(w, nodes[node].caller);
		callee = row_of_node(w, node);
		number = caller == DICT_NONE || callee == DICT_NONE
				 ? DICT_NONE
				 : arc_of(w, caller, callee);
		if (number == DICT_NONE)
			return -ENOMEM;
		arc = &w->p->graph.arcs.at[number];
		arc->samples += items[i].samples;
		arc->period += items[i].period;
	}
	return 0;
}

static int call_graph_take_samples(struct call_graph_walk *w,
				   const struct call_graph_item *items, size_t nr)
{
	int r = make_locals(w, items, nr);

	if (!r)
		call_graph_sum_up(w, items, nr);
	if (!r)
		r = walk_over(w, CALL_ROOT);
	if (!r)
		r = walk_over(w, CALL_TRUNCATED);
	if (!r)
		r = add_own(w, items, nr);
	return r;
}

/* Processes the items of a (who, event) pair. */
static int call_graph_take(struct call_graph_walk *w,
			   const struct call_graph_item *items, size_t nr)
{
	bool calls = w->p->events.at[items->event].flags & EVENT_CALLS;
	int r = 0;

	w->who = items->who;
	w->event = calls ? call_graph_main_event(w->p, items->event) : items->event;
	if (w->event != DICT_NONE)
		r = calls ? call_graph_take_calls(w, items, nr)
			  : call_graph_take_samples(w, items, nr);
	forget_locals(w);
	return r;
}

static int call_graph_take_all(struct call_graph_walk *w)
{
	size_t end;

	for (size_t i = 0; i < w->nr_items; i = end) {
		int r;

		for (end = i + 1; end < w->nr_items &&
				  w->items[end].who == w->items[i].who &&
				  w->items[end].event == w->items[i].event;)
			end++;
		r = call_graph_take(w, w->items + i, end - i);
		if (r)
			return r;
	}
	return 0;
}

int call_graph_make(struct profile *p)
{
	struct call_graph_walk w = { .p = p };
	size_t nr_wheres = p->tuples[GROUP_WHERE].nr;
	int r = collect_items(&w);

	w.local_of = calloc(p->calls.nodes.nr + CALL_FIRST, sizeof(*w.local_of));
	w.row_of = malloc((nr_wheres + 1) * sizeof(*w.row_of));
	if (!w.local_of || !w.row_of)
		r = -ENOMEM;
	if (!r) {
		memset(w.row_of, 0xff, nr_wheres * sizeof(*w.row_of));
		groups_clear(p);
		r = call_graph_take_all(&w);
	}
	free(w.items);
	free(w.local_of);
	free(w.row_of);
	vec_done(&w.locals);
	vec_done(&w.wheres);
	vec_done(&w.path);
	vec_done(&w.open_rows);
	vec_done(&w.open_arcs);
	map_done(&w.arc_by);
	return r;
}
