/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tuples.h"
#include "base/clock.h"
#include "base/containers/map.h"
#include "base/containers/sort_keys.h"
#include "base/err.h"

/* A row has two halves: the values of keys of functions (`where`: symbol, image), and those of all
 * other keys (`who`). Each distinct half has a number. */
struct view_table_making {
	struct view_table *t;
	const struct view_selection *s;
	uint32_t *where_of; /* by function */
	struct tuples who;
	struct tuples where;
	/* Samples of the current `who`: self[where * VIEW_SIDES + side]. */
	uint64_t *self;
	uint64_t *total;
	/* By `where`: the `stamp` of the last stack that contained it. */
	uint32_t *met;
	uint32_t stamp;
	VEC(uint32_t) touched; /* `where` with samples of the current `who` */
};

static bool view_table_is_where(enum key_id id)
{
	return id == KEY_SYMBOL || id == KEY_IMAGE;
}

/* The keys whose values the model keeps. */
static const bool view_table_keys[KEY_ID_COUNT] = {
	[KEY_EVENT] = true,  [KEY_COMM] = true,   [KEY_PID] = true,
	[KEY_TID] = true,    [KEY_CPU] = true,    [KEY_IMAGE] = true,
	[KEY_SYMBOL] = true, [KEY_CGROUP] = true, [KEY_TIME] = true,
};

static int view_table_parse(struct view_table *t, const char *text, struct err *err)
{
	int r = keys_parse(&t->keys, text, err);

	for (size_t i = 0; !r && i < t->keys.keys.nr; i++)
		if (!view_table_keys[t->keys.keys.at[i].row->id])
			r = err_set(
				err, -EINVAL,
				"views cannot group by %s: give some of event, comm, pid, tid, cpu, image, symbol, cgroup, time",
				t->keys.keys.at[i].typed);
	return r;
}

/* ---- halves ---- */

static uint64_t view_table_where(const struct view_data *d, const struct key *key,
				 uint32_t function)
{
	return key->row->id == KEY_SYMBOL ? d->functions.at[function].name
					  : d->functions.at[function].image;
}

static uint64_t view_table_who(const struct view_data *d, const struct key *key,
			       const struct view_span *span)
{
	const struct view_track *track = &d->tracks.at[span->track];
	const struct view_thread *thread = &d->threads.at[track->thread];

	switch (key->row->id) {
	case KEY_EVENT:
		return d->events.at[track->event].name;
	case KEY_COMM:
		return thread->comm;
	case KEY_CGROUP:
		return thread->cgroup;
	case KEY_PID:
		return (uint64_t)(int64_t)thread->pid;
	case KEY_TID:
		return (uint64_t)(int64_t)thread->tid;
	case KEY_CPU:
		return (uint64_t)(int64_t)track->cpu;
	case KEY_TIME:
		return span->bin * d->bin_ns / key->width_ns * key->width_ns;
	case KEY_IMAGE:
	case KEY_APP:
	case KEY_SYMBOL:
	case KEY_ORIGIN:
	case KEY_ADDRESS:
	case KEY_SESSION:
	case KEY_HOST:
	case KEY_LINE:
	case KEY_FILE:
	case KEY_INLINE:
	case KEY_FUNCTION_LINE:
	case KEY_STACK:
	case KEY_ID_COUNT:
	default:
		return 0;
	}
}

/* Returns the number of a half: the `who` of a span or, if `span` is NULL, the `where` of a
 * function. Returns VIEW_NONE if memory is short. */
static uint32_t view_table_half(struct view_table_making *m,
				const struct view_span *span, uint32_t function)
{
	uint64_t values[KEY_ID_COUNT];
	size_t nr = 0;

	for (size_t k = 0; k < m->t->keys.keys.nr; k++) {
		const struct key *key = &m->t->keys.keys.at[k];

		if (view_table_is_where(key->row->id) == !span)
			values[nr++] =
				span ? view_table_who(m->t->data, key, span)
				     : view_table_where(m->t->data, key, function);
	}
	return tuples_add(span ? &m->who : &m->where, values);
}

static int view_table_functions(struct view_table_making *m)
{
	const struct view_data *d = m->t->data;

	m->where_of = calloc(d->functions.nr + 1, sizeof(*m->where_of));
	if (!m->where_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->functions.nr; i++) {
		m->where_of[i] = view_table_half(m, NULL, i);
		if (m->where_of[i] == VIEW_NONE)
			return -ENOMEM;
	}
	m->self = calloc(m->where.nr * VIEW_SIDES + 1, sizeof(*m->self));
	m->total = calloc(m->where.nr * VIEW_SIDES + 1, sizeof(*m->total));
	m->met = calloc(m->where.nr + 1, sizeof(*m->met));
	return m->self && m->total && m->met && vec_reserve(&m->touched, m->where.nr)
		       ? 0
		       : -ENOMEM;
}

/* ---- rows ---- */

static void view_table_touch(struct view_table_making *m, uint32_t where)
{
	/* view_table_functions() has reserved the memory. */
	if (!m->total[where * VIEW_SIDES] && !m->total[where * VIEW_SIDES + 1])
		(void)vec_push(&m->touched, where);
}

/* Adds a row for each `where` with samples of a `who`, and clears the counts. */
static int view_table_flush(struct view_table_making *m, uint32_t who)
{
	struct view_table *t = m->t;

	for (size_t i = 0; i < m->touched.nr; i++) {
		uint32_t where = m->touched.at[i];
		struct view_row row = { .function = VIEW_NONE };
		size_t nr[2] = { 0 };

		for (size_t k = 0; k < t->keys.keys.nr; k++) {
			bool is_where = view_table_is_where(t->keys.keys.at[k].row->id);
			const struct tuples *half = is_where ? &m->where : &m->who;
			uint32_t number = is_where ? where : who;

			row.values[k] =
				half->values.at[number * half->width + nr[is_where]++];
		}
		for (size_t side = 0; side < VIEW_SIDES; side++) {
			size_t at = where * VIEW_SIDES + side;

			row.side_self[side] = m->self[at];
			row.side_total[side] = m->total[at];
			row.self += m->self[at];
			row.total += m->total[at];
			m->self[at] = m->total[at] = 0;
		}
		if (!vec_push(&t->rows, row))
			return -ENOMEM;
	}
	m->touched.nr = 0;
	return 0;
}

/* Makes the rows if all keys are of functions: adds up the samples of all threads by node. */
static int view_table_add_nodes(struct view_table_making *m)
{
	const struct view_data *d = m->t->data;
	size_t nr = d->nodes.nr * VIEW_SIDES;
	uint64_t *sums = calloc(nr + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	view_selection_sum(m->s, sums, true);
	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		uint32_t where = m->where_of[d->nodes.at[i].function];

		for (size_t side = 0; side < VIEW_SIDES; side++) {
			m->self[where * VIEW_SIDES + side] +=
				sums[i * VIEW_SIDES + side];
			m->t->samples[side] += sums[i * VIEW_SIDES + side];
		}
	}
	for (uint32_t i = (uint32_t)d->nodes.nr; i-- > 0;) {
		uint32_t caller = d->nodes.at[i].caller;

		for (size_t side = 0; caller != VIEW_NONE && side < VIEW_SIDES; side++)
			sums[caller * VIEW_SIDES + side] += sums[i * VIEW_SIDES + side];
	}
	/* Only the outermost of nested nodes counts; met[] is the end of its callees. */
	for (uint32_t i = 0; i < d->nodes.nr; i++) {
		uint32_t where = m->where_of[d->nodes.at[i].function];

		if (i < m->met[where] ||
		    !(sums[i * VIEW_SIDES] + sums[i * VIEW_SIDES + 1]))
			continue;
		m->met[where] = d->nodes.at[i].end;
		view_table_touch(m, where);
		for (size_t side = 0; side < VIEW_SIDES; side++)
			m->total[where * VIEW_SIDES + side] +=
				sums[i * VIEW_SIDES + side];
	}
	free(sums);
	return view_table_flush(m, 0);
}

/* Counts samples at a node for it and for each different `where` on its stack. */
static void view_table_add_sample(struct view_table_making *m, uint32_t node,
				  uint64_t count, uint32_t side)
{
	const struct view_node *nodes = m->t->data->nodes.at;
	uint32_t where = m->where_of[nodes[node].function];

	m->t->samples[side] += count;
	m->stamp++;
	for (uint32_t at = node; at != VIEW_NONE; at = nodes[at].caller) {
		uint32_t on = m->where_of[nodes[at].function];

		if (m->met[on] == m->stamp)
			continue;
		m->met[on] = m->stamp;
		view_table_touch(m, on);
		m->total[on * VIEW_SIDES + side] += count;
	}
	m->self[where * VIEW_SIDES + side] += count;
}

/* Adds up the samples of a `who` by node. */
struct view_table_sums {
	VEC(uint32_t) nodes; /* with samples */
	uint64_t *counts;    /* by node and recording */
};

static int view_table_sum_span(struct view_table_sums *sums,
			       const struct view_selection *s, uint32_t span)
{
	const struct view_data *d = s->data;
	uint32_t side = d->tracks.at[d->spans.at[span].track].side;

	for (uint32_t i = d->spans.at[span].at; i < d->spans.at[span + 1].at; i++) {
		uint32_t node = d->node_of.at[i];
		uint64_t *counts = &sums->counts[node * VIEW_SIDES];

		if (s->nodes && !s->nodes[node])
			continue;
		if (!counts[0] && !counts[1] && !vec_push(&sums->nodes, node))
			return -ENOMEM;
		counts[side] += d->count_of.at[i];
	}
	return 0;
}

static int view_table_add_sums(struct view_table_making *m,
			       struct view_table_sums *sums, uint32_t who)
{
	for (size_t i = 0; i < sums->nodes.nr; i++) {
		uint32_t node = sums->nodes.at[i];

		for (uint32_t side = 0; side < VIEW_SIDES; side++) {
			uint64_t *count = &sums->counts[node * VIEW_SIDES + side];

			if (*count)
				view_table_add_sample(m, node, *count, side);
			*count = 0;
		}
	}
	sums->nodes.nr = 0;
	return view_table_flush(m, who);
}

/* Makes the rows if there are other keys: sorts the spans by `who`, and adds up one after the
 * other. */
static int view_table_add_spans(struct view_table_making *m)
{
	const struct view_data *d = m->t->data;
	struct sort_key *keys = calloc(d->spans.nr + 1, sizeof(*keys));
	struct view_table_sums sums = { 0 };
	size_t nr = 0;
	int r;

	sums.counts = calloc(d->nodes.nr * VIEW_SIDES + 1, sizeof(*sums.counts));
	r = keys && sums.counts ? 0 : -ENOMEM;
	for (uint32_t i = 0; !r && i + 1 < d->spans.nr; i++) {
		uint32_t who;

		if (!view_selection_span(m->s, &d->spans.at[i]))
			continue;
		who = view_table_half(m, &d->spans.at[i], 0);
		keys[nr++] = (struct sort_key){ who, i };
		r = who == VIEW_NONE ? -ENOMEM : 0;
	}
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++) {
		r = view_table_sum_span(&sums, m->s, keys[i].index);
		if (!r && (i + 1 == nr || keys[i + 1].at != keys[i].at))
			r = view_table_add_sums(m, &sums, (uint32_t)keys[i].at);
	}
	free(keys);
	free(sums.counts);
	vec_done(&sums.nodes);
	return r;
}

/* Finds the function of each row if the keys include symbol and image. */
static void view_table_find_functions(struct view_table *t)
{
	const struct view_data *d = t->data;
	int symbol = keys_find(&t->keys, KEY_SYMBOL);
	int image = keys_find(&t->keys, KEY_IMAGE);
	struct map by = { 0 };

	for (uint32_t i = 0; symbol >= 0 && image >= 0 && i < d->functions.nr; i++)
		(void)map_set(&by, d->functions.at[i].name, d->functions.at[i].image,
			      i);
	for (size_t i = 0; by.nr && i < t->rows.nr; i++)
		t->rows.at[i].function = map_get(&by, t->rows.at[i].values[symbol],
						 t->rows.at[i].values[image]);
	map_done(&by);
}

int view_table_make(struct view_table *t, const struct view_selection *s,
		    const char *keys, struct err *err)
{
	struct view_table_making m = { .t = t, .s = s };
	bool threads = false;
	int r;

	*t = (struct view_table){ .data = s->data };
	r = view_table_parse(t, keys, err);
	if (r)
		return r;
	for (size_t i = 0; i < t->keys.keys.nr; i++) {
		bool where = view_table_is_where(t->keys.keys.at[i].row->id);

		threads |= !where;
		(where ? &m.where : &m.who)->width++;
	}
	r = view_table_functions(&m);
	if (!r)
		r = threads ? view_table_add_spans(&m) : view_table_add_nodes(&m);
	if (!r)
		view_table_find_functions(t);
	free(m.where_of);
	tuples_done(&m.who);
	tuples_done(&m.where);
	free(m.self);
	free(m.total);
	free(m.met);
	vec_done(&m.touched);
	return r ? err_set(err, r, "out of memory") : 0;
}

void view_table_done(struct view_table *t)
{
	keys_done(&t->keys);
	vec_done(&t->rows);
}

/* ---- order and texts ---- */

const char *view_table_text(const struct view_table *t, const struct view_row *row,
			    size_t key, char room[VIEW_VALUE_ROOM])
{
	const struct key *k = &t->keys.keys.at[key];

	if (k->row->kind == KEY_TEXT || k->row->id == KEY_EVENT)
		return view_text(t->data, (uint32_t)row->values[key]);
	if (k->row->kind == KEY_TIMES)
		(void)snprintf(room, VIEW_VALUE_ROOM, "%" PRIu64 ".%09" PRIu64,
			       row->values[key] / NS_PER_S,
			       row->values[key] % NS_PER_S);
	else
		(void)snprintf(room, VIEW_VALUE_ROOM, "%" PRId64,
			       (int64_t)row->values[key]);
	return room;
}

static int view_table_compare_names(const struct view_table *t,
				    const struct view_row *a, const struct view_row *b)
{
	for (size_t k = 0; k < t->keys.keys.nr; k++) {
		enum key_kind kind = t->keys.keys.at[k].row->kind;
		int64_t x = (int64_t)a->values[k], y = (int64_t)b->values[k];
		int r = kind == KEY_TEXT ? strcmp(view_text(t->data, (uint32_t)x),
						  view_text(t->data, (uint32_t)y))
					 : (x > y) - (x < y);

		if (r)
			return r;
	}
	return 0;
}

/* Returns the change of a row's share of samples, from the base to the new side. */
static double view_table_delta(const struct view_table *t, const struct view_row *row)
{
	double shares[VIEW_SIDES];

	for (size_t side = 0; side < VIEW_SIDES; side++)
		shares[side] = t->samples[side] ? (double)row->side_self[side] /
							  (double)t->samples[side]
						: 0;
	return shares[1] - shares[0];
}

struct view_table_ordering {
	const struct view_table *t;
	enum view_table_order order;
};

static int view_table_compare(const void *va, const void *vb, void *ctx)
{
	const struct view_table_ordering *o = ctx;
	const struct view_row *a = va, *b = vb;
	double x = (double)(o->order == VIEW_BY_TOTAL ? a->total : a->self);
	double y = (double)(o->order == VIEW_BY_TOTAL ? b->total : b->self);

	if (o->order == VIEW_BY_DELTA) {
		x = view_table_delta(o->t, a);
		y = view_table_delta(o->t, b);
		x = x < 0 ? -x : x;
		y = y < 0 ? -y : y;
	}
	if (o->order == VIEW_BY_NAME || (x <= y && y <= x))
		return view_table_compare_names(o->t, a, b);
	return x > y ? -1 : 1;
}

void view_table_sort(struct view_table *t, enum view_table_order order)
{
	struct view_table_ordering o = { t, order };

	if (t->rows.nr)
		qsort_r(t->rows.at, t->rows.nr, sizeof(*t->rows.at), view_table_compare,
			&o);
}
