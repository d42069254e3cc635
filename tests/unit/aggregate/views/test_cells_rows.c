/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the rows made of cells with plain sums: cells grouped by `who`, unordered cells,
 * cells with values that are too large for a number, and those of a second source. */
#include "aggregate/views/cells_rows.h"

#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tally.h"
#include "aggregate/profile/profile.h"
#include "base/containers/huge.h"

#include "unit.h"

enum {
	SOME_EVENTS = 3,
	MANY_EVENTS = 5000 /* more than can be packed with the number of a location */
};

/* Each tuple has two locations. */
struct shape {
	uint32_t whos;
	uint32_t positions;
	uint32_t events; /* events of the profile; SOME_EVENTS of them have samples */
	bool is_mixed;   /* the `who` values are not in order */
	unsigned int times; /* how often the same source is added */
};

struct world {
	struct key_list keys;
	struct profile p;
	uint32_t *where_of;
};

static void begin(struct world *w, const struct shape *s)
{
	struct profile_options options = { .keys = &w->keys };

	*w = (struct world){ 0 };
	assert_int_equal(keys_parse(&w->keys, "pid,address", NULL), 0);
	assert_int_equal(profile_init(&w->p, &options), 0);
	for (uint32_t i = 0; i < s->events; i++)
		assert_true(vec_push(&w->p.events, (struct profile_event){ 0 }));
	w->where_of = calloc(s->positions, sizeof(*w->where_of));
	assert_non_null(w->where_of);
	for (uint32_t i = 0; i < s->positions; i++)
		w->where_of[i] = (s->positions - 1 - i) / 2;
}

static void end(struct world *w)
{
	free(w->where_of);
	profile_done(&w->p);
	keys_done(&w->keys);
}

/* The last event also occurs. */
static uint32_t event_of(const struct shape *s, uint32_t i)
{
	return i ? s->events - i : 0;
}

static struct tally make_cells(const struct shape *s)
{
	size_t nr = (size_t)s->whos * s->positions * SOME_EVENTS;
	struct tally t = { .cells = huge_zalloc(nr, sizeof(*t.cells)),
			   .cells_room = nr };

	assert_non_null(t.cells);
	for (uint32_t i = 0; i < s->whos; i++)
		for (uint32_t position = 0; position < s->positions; position++)
			for (uint32_t e = 0; e < SOME_EVENTS; e++) {
				uint64_t who = s->is_mixed ? s->whos - 1 - i : i;

				t.cells[t.nr_cells++] =
					(struct tally_cell){ .a = who << 32 | position,
							     .b = event_of(s, e),
							     .samples = 1 + who +
									position + e,
							     .period = 7 };
			}
	return t;
}

/* Returns the samples that the two locations of a tuple have together. */
static uint64_t samples_of(const struct shape *s, uint32_t who, uint32_t where,
			   uint32_t e)
{
	uint64_t position = s->positions - 1 - 2 * where;

	return s->times * (2 * (1 + (uint64_t)who + e) + position + position - 1);
}

static uint32_t number_of_event(const struct shape *s, uint32_t event)
{
	for (uint32_t e = 0; e < SOME_EVENTS; e++)
		if (event_of(s, e) == event)
			return e;
	return SOME_EVENTS;
}

static void check(const struct shape *s)
{
	struct world w;

	begin(&w, s);
	for (unsigned int i = 0; i < s->times; i++) {
		struct tally t = make_cells(s);

		assert_int_equal(cells_rows_add(&w.p, &t, w.where_of), 0);
		tally_done(&t);
	}
	assert_int_equal(w.p.groups.nr, s->whos * s->positions / 2);
	assert_int_equal(w.p.rows.nr, w.p.groups.nr * SOME_EVENTS);
	for (uint32_t i = 0; i < w.p.groups.nr; i++) {
		const uint32_t *tuple = w.p.groups.at[i].tuple;

		assert_int_equal(tuple[GROUP_WHO], i / (s->positions / 2));
		assert_int_equal(tuple[GROUP_WHERE], i % (s->positions / 2));
	}
	for (size_t i = 0; i < w.p.rows.nr; i++) {
		const struct profile_row *row = &w.p.rows.at[i];
		const uint32_t *tuple = w.p.groups.at[row->group].tuple;
		uint32_t e = number_of_event(s, row->event);

		assert_true(e < SOME_EVENTS);
		assert_int_equal(row->samples, samples_of(s, tuple[GROUP_WHO],
							  tuple[GROUP_WHERE], e));
		assert_int_equal(row->period, 14 * s->times);
	}
	end(&w);
}

static void counts_runs_of_equal_keys_in_order(void **state)
{
	(void)state;
	check(&(struct shape){ 1, 2, SOME_EVENTS, false, 1 });
	check(&(struct shape){ 50, 60, SOME_EVENTS, false, 1 });
	/* Some megabytes: cells are freed meanwhile. */
	check(&(struct shape){ 400, 2000, SOME_EVENTS, false, 1 });
}

static void a_second_source_adds_to_the_first(void **state)
{
	(void)state;
	check(&(struct shape){ 50, 60, SOME_EVENTS, false, 3 });
	check(&(struct shape){ 50, 60, SOME_EVENTS, true, 2 });
}

static void merges_actors_in_any_order(void **state)
{
	(void)state;
	check(&(struct shape){ 50, 60, SOME_EVENTS, true, 1 });
}

static void counts_exceed_32_bits(void **state)
{
	(void)state;
	check(&(struct shape){ 20, 30, MANY_EVENTS, false, 2 });
	check(&(struct shape){ 2, 400000, SOME_EVENTS, false, 1 });
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(counts_runs_of_equal_keys_in_order),
		cmocka_unit_test(a_second_source_adds_to_the_first),
		cmocka_unit_test(merges_actors_in_any_order),
		cmocka_unit_test(counts_exceed_32_bits),
	};

	return UNIT_RUN(cases);
}
