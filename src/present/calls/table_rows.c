/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_rows.c - builds and sorts the rows of a call table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/huge.h"
#include "base/containers/sort_keys.h"
#include "base/containers/sort_numbers.h"
#include "present/calls/table_priv.h"

enum {
	NODE_SHIFT = 32
};

uint32_t *call_numbers(size_t nr)
{
	uint32_t *all = malloc((nr + 1) * sizeof(*all));

	if (all)
		memset(all, 0xff, (nr + 1) * sizeof(*all));
	return all;
}

/* Compares the values of a key of two groups. */
static int call_table_rows_compare_values(struct profile *p, size_t key, uint32_t a,
					  uint32_t b)
{
	uint64_t x = profile_value(p, a, key), y = profile_value(p, b, key);

	switch (p->options.keys->keys.at[key].row->kind) {
	case KEY_TEXT:
		return x == y ? 0
			      : strcmp(strtab_get(&p->strings, (uint32_t)x),
				       strtab_get(&p->strings, (uint32_t)y));
	case KEY_INTEGER:
		return (int64_t)x < (int64_t)y ? -1 : (int64_t)x > (int64_t)y;
	case KEY_HEX:
	case KEY_TIMES:
		break;
	}
	return x < y ? -1 : x > y;
}

static bool is_who(const struct profile *p, size_t key)
{
	return p->options.keys->keys.at[key].row->id != KEY_EVENT &&
	       p->key_slots[key].side == GROUP_WHO;
}

static int compare_whos(const void *a, const void *b, void *ctx)
{
	struct profile *p = ctx;
	int r = 0;

	for (size_t key = 0; !r && key < p->nr_keys; key++)
		if (is_who(p, key))
			r = call_table_rows_compare_values(p, key, *(const uint32_t *)a,
							   *(const uint32_t *)b);
	return r;
}

static uint32_t tuple_of(const struct profile *p, uint32_t group)
{
	return p->groups.at[group].tuple[GROUP_WHO];
}

static int make_whos(struct call_making *m)
{
	struct profile *p = m->p;

	m->who_of = call_numbers(p->tuples[GROUP_WHO].nr);
	if (!m->who_of)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		uint32_t group = p->rows.at[i].group;
		uint32_t *who = &m->who_of[tuple_of(p, group)];

		if (*who == DICT_NONE && !vec_push(&m->t->whos, group))
			return -ENOMEM;
		*who = 0;
	}
	qsort_r(m->t->whos.at, m->t->whos.nr, sizeof(*m->t->whos.at), compare_whos, p);
	for (uint32_t i = 0; i < m->t->whos.nr; i++)
		m->who_of[tuple_of(p, m->t->whos.at[i])] = i;
	return 0;
}

static int call_table_rows_compare_events(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t x = p->events.at[*(const uint32_t *)a].rank;
	uint32_t y = p->events.at[*(const uint32_t *)b].rank;

	return x < y ? -1 : x > y;
}

int call_table_list_events(struct call_making *m)
{
	struct call_table *t = m->t;

	t->event_at = call_numbers(m->p->events.nr);
	if (!t->event_at)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->p->events.nr; i++)
		if (m->p->events.at[i].samples && !vec_push(&t->events, i))
			return -ENOMEM;
	qsort_r(t->events.at, t->events.nr, sizeof(*t->events.at),
		call_table_rows_compare_events, m->p);
	for (uint32_t i = 0; i < t->events.nr; i++)
		t->event_at[t->events.at[i]] = i;
	return 0;
}

static struct call_row call_table_rows_row_of(const struct call_making *m,
					      const struct profile_row *from)
{
	return (struct call_row){
		.who = m->who_of[tuple_of(m->p, from->group)],
		.node = m->position_of[call_row_node(m, from)],
		.event = m->t->event_at[from->event],
		.line = m->line_key < 0 ? 0
					: (uint32_t)profile_value(m->p, from->group,
								  (size_t)m->line_key),
		.samples = from->samples,
		.period = from->period,
	};
}

/* Converts the profile's rows to rows of the table, in place if both have the same size. */
static int call_table_rows_take_rows(struct call_making *m)
{
	bool in_place = sizeof(struct call_row) == sizeof(struct profile_row);
	uint8_t *from = (uint8_t *)m->p->rows.at;

	m->nr = m->p->rows.nr;
	m->t->rows = in_place && from ? (void *)from
				      : huge_alloc((m->nr + 1) * sizeof(*m->t->rows));
	if (!m->t->rows)
		return -ENOMEM;
	for (size_t i = 0; from && i < m->nr; i++) {
		struct profile_row row;

		memcpy(&row, from + i * sizeof(row), sizeof(row));
		m->t->rows[i] = call_table_rows_row_of(m, &row);
	}
	if ((void *)from == (void *)m->t->rows)
		m->p->rows.at = NULL;
	vec_done(&m->p->rows);
	/* The indices in first_rows are not valid any more, because the rows were consumed. */
	vec_done(&m->p->first_rows);
	return 0;
}

/* Adds a row, for which the caller has reserved room. */
static void call_table_rows_add_row(struct call_table *t, uint32_t at)
{
	const struct call_row *row = &t->rows[at];
	struct call_row *last = t->nr_rows ? &t->rows[t->order[t->nr_rows - 1]] : NULL;

	if (last && last->who == row->who && last->node == row->node &&
	    last->line == row->line && last->event == row->event) {
		last->samples += row->samples;
		last->period += row->period;
		return;
	}
	t->order[t->nr_rows++] = at;
}

/* Sorts the rows by the fields after the node: line and event.  *ret_order is malloc'd, or NULL
 * if all rows are equal in these. */
static int order_rows(const struct call_making *m, struct sort_key **ret_order)
{
	struct sort_key *keys;
	int r;

	*ret_order = NULL;
	if (m->line_key < 0 && m->t->events.nr < 2)
		return 0;
	keys = huge_alloc((m->nr + 1) * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr; i++) {
		const struct call_row *row = &m->t->rows[i];

		keys[i] = (struct sort_key){
			(uint64_t)row->line * m->t->events.nr + row->event, i
		};
	}
	r = sort_keys(&keys, m->nr);
	*ret_order = keys;
	return r;
}

static bool has_counts(const struct call_row *row)
{
	return row->samples || row->period;
}

static uint64_t call_table_rows_key_of(const struct call_making *m, uint32_t row)
{
	return (uint64_t)m->t->rows[row].node << NODE_SHIFT | row;
}

/* Finds the start of the rows of each `who`, if its rows are adjacent, as in a profile from a
 * single source.  *ret_begins is malloc'd, or NULL if they are not adjacent.  Returns 0 or
 * -ENOMEM. */
static int find_runs(const struct call_making *m, uint32_t **ret_begins)
{
	const struct call_row *rows = m->t->rows;
	uint32_t *begins = call_numbers(m->t->whos.nr);
	uint32_t last = DICT_NONE;

	if (!begins)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr; i++) {
		uint32_t who = rows[i].who;

		if (who != last && begins[who] != DICT_NONE) {
			free(begins);
			begins = NULL;
			break;
		}
		if (who != last)
			begins[who] = i;
		last = who;
	}
	*ret_begins = begins;
	return 0;
}

/* Returns the start index of each `who`, shifted by one element, with the total at the end.  The
 * caller frees it; NULL if memory is short. */
static size_t *begin_whos(const struct call_making *m)
{
	size_t *begins = calloc(m->t->whos.nr + 2, sizeof(*begins));
	const struct call_row *rows = m->t->rows;

	for (size_t i = 0; begins && i < m->nr; i++)
		if (has_counts(&rows[i]))
			begins[rows[i].who + 2]++;
	for (size_t i = 2; begins && i < m->t->whos.nr + 2; i++)
		begins[i] += begins[i - 1];
	return begins;
}

/* Returns (node, row) keys grouped by `who`.  This advances the elements of begins[], so that
 * begins[who] is correct afterwards. */
static uint64_t *call_table_rows_group_rows(const struct call_making *m,
					    const struct sort_key *order,
					    size_t *begins)
{
	const struct call_row *rows = m->t->rows;
	uint64_t *keys = huge_alloc((begins[m->t->whos.nr + 1] + 1) * sizeof(*keys));

	for (uint32_t i = 0; keys && i < m->nr; i++) {
		uint32_t at = order ? order[i].index : i;

		if (has_counts(&rows[at]))
			keys[begins[rows[at].who + 1]++] =
				call_table_rows_key_of(m, at);
	}
	return keys;
}

/* Adds the rows of a `who`, sorted by node.  Sorting them separately keeps the data in CPU
 * caches. */
static int call_table_rows_add_rows(struct call_making *m, uint64_t *keys, size_t nr)
{
	const uint64_t *sorted;

	m->room.nr = 0;
	if (!vec_reserve(&m->room, nr))
		return -ENOMEM;
	sorted = sort_numbers(keys, m->room.at, nr, NODE_SHIFT);
	for (size_t i = 0; i < nr; i++)
		call_table_rows_add_row(m->t, (uint32_t)sorted[i]);
	return 0;
}

static int call_table_rows_add_run(struct call_making *m, uint32_t who, uint32_t begin)
{
	const struct call_row *rows = m->t->rows;

	m->keys.nr = 0;
	for (uint32_t i = begin; i < m->nr && rows[i].who == who; i++)
		if (has_counts(&rows[i]) &&
		    !vec_push(&m->keys, call_table_rows_key_of(m, i)))
			return -ENOMEM;
	return call_table_rows_add_rows(m, m->keys.at, m->keys.nr);
}

/* Adds the rows of each `who`. Returns 0, 1 if the rows of a `who` are not adjacent, or -ENOMEM. */
static int call_table_rows_add_runs(struct call_making *m)
{
	uint32_t *begins = NULL;
	int r = find_runs(m, &begins);

	if (!r && !begins)
		return 1;
	for (uint32_t who = 0; !r && who < m->t->whos.nr; who++)
		r = call_table_rows_add_run(m, who, begins[who]);
	free(begins);
	return r;
}

static int add_groups(struct call_making *m, const struct sort_key *order)
{
	size_t *begins = begin_whos(m);
	uint64_t *keys = begins ? call_table_rows_group_rows(m, order, begins) : NULL;
	int r = keys ? 0 : -ENOMEM;

	for (size_t who = 0; !r && who < m->t->whos.nr; who++)
		r = call_table_rows_add_rows(m, keys + begins[who],
					     begins[who + 1] - begins[who]);
	free(begins);
	free(keys);
	return r;
}

/* Fills the indices that spans need. */
static int make_numbers(struct call_making *m)
{
	const struct timeline *timeline = &m->p->timeline;
	size_t nr_positions = m->p->tuples[GROUP_WHERE].nr;

	m->t->node_of = call_numbers(nr_positions);
	m->t->who_of = call_numbers(timeline->tracks.nr);
	if (!m->t->node_of || !m->t->who_of)
		return -ENOMEM;
	for (size_t i = 0; i < nr_positions; i++)
		m->t->node_of[i] = m->position_of[m->own_of_tuple[i]];
	for (size_t i = 0; i < timeline->tracks.nr; i++)
		m->t->who_of[i] = m->who_of[tuple_of(m->p, timeline->tracks.at[i].who)];
	return 0;
}

int call_table_make_rows(struct call_making *m)
{
	struct sort_key *order = NULL;
	int r = make_whos(m);

	if (!r && m->p->options.timeline)
		return make_numbers(m);
	if (!r)
		r = call_table_rows_take_rows(m);
	if (!r)
		m->t->order = huge_alloc((m->nr + 1) * sizeof(*m->t->order));
	if (!r)
		r = m->t->order ? order_rows(m, &order) : -ENOMEM;
	if (!r)
		r = order ? 1 : call_table_rows_add_runs(m);
	if (r > 0)
		r = add_groups(m, order);
	free(order);
	return r;
}
