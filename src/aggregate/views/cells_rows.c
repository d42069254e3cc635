/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/cells_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "aggregate/count/tally.h"
#include "aggregate/profile/groups.h"
#include "aggregate/profile/profile.h"
#include "aggregate/views/view.h"
#include "base/containers/huge.h"
#include "base/containers/sort_keys.h"
#include "base/containers/sort_numbers.h"

enum {
	WHERE_SHIFT = 32,
	RUN_BITS = WHERE_SHIFT - VIEW_EVENT_BITS, /* for the index in a run */
	RUN_MAX = 1 << RUN_BITS,
	FORGET_CELLS = 1 << 18 /* 8 MB */
};

static uint32_t who_of(const struct tally_cell *cell)
{
	return (uint32_t)(cell->a >> 32);
}

/* Returns whether the profile has no groups yet, so that groups can be added in order, without
 * searches.  Also returns false if there are more events than fit in a sort key. */
static bool cells_rows_is_first(const struct profile *p)
{
	return !p->groups.nr && p->events.nr <= VIEW_EVENT_NONE;
}

static int add_cell(struct profile *p, bool first, const struct tally_cell *cell,
		    uint32_t where)
{
	uint32_t event = (uint32_t)cell->b;
	uint32_t row = first ? groups_append(p, who_of(cell), where, event)
			     : groups_row_of(p, who_of(cell), where, event);

	if (row == DICT_NONE)
		return -ENOMEM;
	p->rows.at[row].samples += cell->samples;
	p->rows.at[row].period += cell->period;
	return 0;
}

/* Sorts the cells by who, where and event.  *ret_order is malloc'd. */
static int order_cells(const struct tally *t, const uint32_t *where_of,
		       struct sort_key **ret_order)
{
	struct sort_key *keys = huge_alloc((t->nr_cells + 1) * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_cells; i++) {
		const struct tally_cell *cell = &t->cells[i];
		uint32_t where = where_of[(uint32_t)cell->a];

		keys[i] =
			(struct sort_key){ (uint64_t)where << VIEW_EVENT_BITS | cell->b,
					   (uint32_t)i };
	}
	r = sort_keys(&keys, t->nr_cells);
	for (size_t i = 0; i < t->nr_cells; i++)
		keys[i].at = who_of(&t->cells[keys[i].index]);
	if (!r)
		r = sort_keys(&keys, t->nr_cells);
	if (r)
		free(keys);
	else
		*ret_order = keys;
	return r;
}

static int add_in_order(struct profile *p, bool first, const struct tally *t,
			const uint32_t *where_of)
{
	struct sort_key *order = NULL;
	int r = order_cells(t, where_of, &order);

	for (size_t i = 0; !r && i < t->nr_cells; i++) {
		const struct tally_cell *cell = &t->cells[order[i].index];

		r = add_cell(p, first, cell, where_of[(uint32_t)cell->a]);
	}
	free(order);
	return r;
}

static size_t end_of_run(const struct tally *t, size_t at)
{
	uint32_t who = who_of(&t->cells[at]);

	while (at < t->nr_cells && who_of(&t->cells[at]) == who)
		at++;
	return at;
}

/* Returns the maximum number of cells of a `who`, or SIZE_MAX if the cells are not sorted by it. */
static size_t longest_run(const struct tally *t)
{
	size_t longest = 0;

	for (size_t at = 0, end; at < t->nr_cells; at = end) {
		end = end_of_run(t, at);
		if (at && who_of(&t->cells[at]) < who_of(&t->cells[at - 1]))
			return SIZE_MAX;
		longest = end - at > longest ? end - at : longest;
	}
	return longest;
}

/* Sorts a run; its data stays in CPU caches.  `room` holds two numbers per cell. */
static int cells_rows_add_run(struct profile *p, bool first,
			      const struct tally_cell *cells, size_t nr,
			      const uint32_t *where_of, uint64_t *room)
{
	const uint64_t *sorted;
	int r = 0;

	for (size_t i = 0; i < nr; i++)
		room[i] = (uint64_t)where_of[(uint32_t)cells[i].a] << WHERE_SHIFT |
			  cells[i].b << RUN_BITS | i;
	sorted = sort_numbers(room, room + nr, nr, RUN_BITS);
	for (size_t i = 0; !r && i < nr; i++)
		r = add_cell(p, first, &cells[sorted[i] & (RUN_MAX - 1)],
			     (uint32_t)(sorted[i] >> WHERE_SHIFT));
	return r;
}

/* Adds the rows of all runs of cells. Clearing fresh memory is expensive, so it releases the memory
 * of cells as soon as their rows exist. Returns 0 or -ENOMEM. */
static int cells_rows_add_runs(struct profile *p, bool first, struct tally *t,
			       const uint32_t *where_of, size_t longest)
{
	uint64_t *room = huge_alloc(2 * (longest + 1) * sizeof(*room));
	int r = room ? 0 : -ENOMEM;
	size_t forgotten = 0;

	for (size_t at = 0, end; !r && at < t->nr_cells; at = end) {
		end = end_of_run(t, at);
		r = cells_rows_add_run(p, first, &t->cells[at], end - at, where_of,
				       room);
		if (end - forgotten >= FORGET_CELLS) {
			tally_forget(t, end);
			forgotten = end;
		}
	}
	free(room);
	return r;
}

int cells_rows_add(struct profile *p, struct tally *t, const uint32_t *where_of)
{
	size_t longest = longest_run(t);
	bool first = cells_rows_is_first(p);

	/* Room that is not used costs nothing. */
	if (first && groups_reserve(p, t->nr_cells, t->nr_cells))
		return -ENOMEM;
	if (longest > RUN_MAX || p->events.nr > VIEW_EVENT_NONE)
		return add_in_order(p, first, t, where_of);
	return cells_rows_add_runs(p, first, t, where_of, longest);
}
