/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merges records of several CPUs' rings, each in order of time, into one sequence. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/replay/side_band.h"

enum {
	MANY = 300,
	TIMES = 23,        /* so that some of many records have the same time */
	LONG_BYTES = 65528 /* the longest record */
};

/* The names that were delivered, in order. */
struct given {
	char text[MANY * 8];
	size_t len;
};

struct rings_world {
	struct side_band side_band;
	struct given given;
};

static void begin(struct rings_world *w)
{
	*w = (struct rings_world){ 0 };
}

static void end(struct rings_world *w)
{
	side_band_done(&w->side_band);
}

static void add(struct rings_world *w, uint64_t time_ns, const char *name)
{
	size_t before = side_band_waiting(&w->side_band);

	assert_int_equal(side_band_add(&w->side_band, time_ns, name, strlen(name) + 1),
			 0);
	assert_int_equal(side_band_waiting(&w->side_band), before + 1);
}

static int note_name(void *ctx, const struct timed_record *record)
{
	struct given *given = ctx;

	assert_int_equal(record->size, strlen((const char *)record->bytes) + 1);
	given->len += (size_t)snprintf(
		given->text + given->len, sizeof(given->text) - given->len, "%s%s",
		given->len ? " " : "", (const char *)record->bytes);
	return 0;
}

static int apply(struct rings_world *w, uint64_t frontier_ns)
{
	return side_band_give(&w->side_band, frontier_ns, note_name, &w->given);
}

/* Returns the names that were delivered since the last call. */
static const char *applied(struct rings_world *w)
{
	static struct given last;

	last = w->given;
	w->given = (struct given){ 0 };
	return last.text;
}

static void merges_runs_in_time_order(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 10, "a");
	add(&w, 40, "b");
	add(&w, 70, "c");
	add(&w, 20, "d");
	add(&w, 40, "e");
	add(&w, 50, "f");
	add(&w, 5, "g");
	add(&w, 40, "h");
	add(&w, 60, "i");
	add(&w, 90, "j");
	assert_int_equal(apply(&w, 100), 0);
	assert_string_equal(applied(&w), "g a d b e h f i c j");
	assert_int_equal(side_band_waiting(&w.side_band), 0);
	assert_int_equal(apply(&w, 200), 0);
	assert_string_equal(applied(&w), "");
	end(&w);
}

/* No record is lost, and older ones come together with later arrivals. */
static void later_records_wait(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 30, "a");
	add(&w, 70, "b");
	add(&w, 20, "c");
	add(&w, 50, "d");
	add(&w, 90, "e");
	assert_int_equal(apply(&w, 10), 0);
	assert_string_equal(applied(&w), "");
	assert_int_equal(apply(&w, 50), 0);
	assert_string_equal(applied(&w), "c a d");
	assert_int_equal(side_band_waiting(&w.side_band), 2);
	add(&w, 60, "f");
	add(&w, 90, "g");
	add(&w, 70, "h");
	add(&w, 80, "i");
	assert_int_equal(apply(&w, 89), 0);
	assert_string_equal(applied(&w), "f b h i");
	assert_int_equal(apply(&w, UINT64_MAX), 0);
	assert_string_equal(applied(&w), "e g");
	end(&w);
}

/* Returns the names of the records from one time to before another, in the expected order. */
static const char *model(const uint64_t *time_ns, size_t nr, uint64_t from, uint64_t to)
{
	static char text[MANY * 8];
	size_t len = 0;

	text[0] = '\0';
	for (uint64_t t = from; t < to; t++)
		for (size_t i = 0; i < nr; i++)
			if (time_ns[i] == t)
				len += (size_t)snprintf(text + len, sizeof(text) - len,
							"%s%zu", len ? " " : "", i);
	return text;
}

static void merges_many_runs(void **state)
{
	(void)state;
	for (size_t nr = 1; nr <= MANY; nr += 1 + nr / 4) {
		uint64_t time_ns[MANY], seed = nr;
		struct rings_world w;

		begin(&w);
		for (size_t i = 0; i < nr; i++) {
			char name[16];

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			time_ns[i] = (seed >> 33) % TIMES;
			snprintf(name, sizeof(name), "%zu", i);
			add(&w, time_ns[i], name);
		}
		for (uint64_t t = 0; t < TIMES; t += 5) {
			assert_int_equal(apply(&w, t + 4), 0);
			assert_string_equal(applied(&w), model(time_ns, nr, t, t + 5));
		}
		assert_int_equal(side_band_waiting(&w.side_band), 0);
		end(&w);
	}
}

/* If memory is too short to sort the records, all of them wait. */
static void allocation_failure_loses_no_records(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 30, "a");
	add(&w, 20, "b");
	add(&w, 10, "c");
	alloc_fail_at(1);
	assert_int_equal(apply(&w, 40), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_string_equal(applied(&w), "");
	assert_int_equal(apply(&w, 40), 0);
	assert_string_equal(applied(&w), "c b a");
	end(&w);
}

/* A record is missing if memory is short, but all others are kept. */
static void allocation_failure_adds_no_record(void **state)
{
	struct rings_world w;

	(void)state;
	for (unsigned long n = 1; n <= 3; n++) {
		int result;

		begin(&w);
		alloc_fail_at(n);
		result = side_band_add(&w.side_band, 10, "a", 2);
		assert_int_equal(result, alloc_fail_off() ? -ENOMEM : 0);
		assert_int_equal(side_band_waiting(&w.side_band), result ? 0 : 1);
		add(&w, 5, "b");
		assert_int_equal(apply(&w, 40), 0);
		assert_string_equal(applied(&w), result ? "b" : "b a");
		end(&w);
	}
}

/* Records keep their bytes when earlier ones are removed. */
static void reuses_blocks(void **state)
{
	static uint8_t bytes[LONG_BYTES];
	struct rings_world w;

	(void)state;
	begin(&w);
	for (uint64_t round = 0; round < 50; round++) {
		char name[16];

		assert_int_equal(side_band_add(&w.side_band, UINT64_MAX, bytes,
					       round % 7 ? 100 : sizeof(bytes)),
				 0);
		snprintf(name, sizeof(name), "%d", (int)round);
		add(&w, round, name);
		add(&w, round + 2, "x");
		if (round % 3)
			continue;
		assert_int_equal(apply(&w, round), 0);
		assert_true(strstr(applied(&w), name) != NULL);
	}
	assert_int_equal(apply(&w, 100), 0);
	assert_int_equal(side_band_waiting(&w.side_band), 50);
	/* Each of eight long records has its own block; the others share some. */
	assert_in_range(w.side_band.blocks.nr - w.side_band.nr_unused, 8, 18);
	end(&w);
}

static void the_last_record_can_be_withdrawn(void **state)
{
	struct rings_world w;

	(void)state;
	begin(&w);
	add(&w, 10, "a");
	add(&w, 5, "b");
	side_band_unadd(&w.side_band);
	add(&w, 7, "c");
	assert_int_equal(apply(&w, 40), 0);
	assert_string_equal(applied(&w), "c a");
	add(&w, 50, "d");
	side_band_unadd(&w.side_band);
	assert_int_equal(side_band_waiting(&w.side_band), 0);
	assert_int_equal(apply(&w, 60), 0);
	assert_string_equal(applied(&w), "");
	end(&w);
}

static void moves_records_in_order(void **state)
{
	struct rings_world w, to;

	(void)state;
	begin(&w);
	begin(&to);
	add(&w, 30, "a");
	add(&w, 10, "b");
	add(&w, 20, "c");
	add(&to, 20, "z");
	assert_int_equal(side_band_move(&w.side_band, 20, &to.side_band), 0);
	assert_int_equal(side_band_waiting(&w.side_band), 1);
	assert_int_equal(apply(&to, UINT64_MAX), 0);
	assert_string_equal(applied(&to), "b z c");
	assert_int_equal(apply(&w, UINT64_MAX), 0);
	assert_string_equal(applied(&w), "a");
	end(&w);
	end(&to);
}

static int refuse(void *ctx, const struct timed_record *record)
{
	(void)record;
	return --*(int *)ctx ? 0 : -EIO;
}

/* The record that ends it is not passed on again. */
static void an_error_ends_the_delivery(void **state)
{
	struct rings_world w;
	int left = 2;

	(void)state;
	begin(&w);
	add(&w, 10, "a");
	add(&w, 20, "b");
	add(&w, 30, "c");
	assert_int_equal(side_band_give(&w.side_band, 40, refuse, &left), -EIO);
	assert_int_equal(apply(&w, 40), 0);
	assert_string_equal(applied(&w), "c");
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_runs_in_time_order),
		cmocka_unit_test(later_records_wait),
		cmocka_unit_test(merges_many_runs),
		cmocka_unit_test(allocation_failure_loses_no_records),
		cmocka_unit_test(allocation_failure_adds_no_record),
		cmocka_unit_test(reuses_blocks),
		cmocka_unit_test(the_last_record_can_be_withdrawn),
		cmocka_unit_test(moves_records_in_order),
		cmocka_unit_test(an_error_ends_the_delivery),
	};

	return UNIT_RUN(tests);
}
