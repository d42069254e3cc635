/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares groups by their values with a plain list of the added values. */
#include "aggregate/profile/groups.h"

#include <string.h>

#include "aggregate/profile/profile.h"

#include "alloc_fail.h"
#include "unit.h"

enum {
	NR_ADDED = 20000,
	NR_KEYS = 4
};

static void draw(uint64_t *dice, uint64_t values[NR_KEYS], uint32_t *event)
{
	for (size_t k = 0; k < NR_KEYS; k++) {
		*dice = *dice * 6364136223846793005u + 1442695040888963407u;
		values[k] = (*dice >> 33) % 13;
	}
	*event = (uint32_t)(*dice >> 53) % 2;
}

static void init(struct profile *p, struct key_list *keys, const char *list)
{
	struct profile_options options = { .keys = keys };

	*keys = (struct key_list){ 0 };
	assert_int_equal(keys_parse(keys, list, NULL), 0);
	assert_int_equal(profile_init(p, &options), 0);
}

/* Mixes the keys of both halves of a group: each value is returned for its key, and equal values
 * always are in the same row. */
static void returns_stored_values(void **state)
{
	static uint32_t row_of[13 * 13 * 13 * 13 * 2]; /* + 1 */
	struct key_list keys;
	struct profile p;
	uint64_t dice = 7;
	size_t nr_rows = 0;
	size_t nr_groups = 0;

	(void)state;
	init(&p, &keys, "address,pid,image,tid");
	for (int i = 0; i < NR_ADDED; i++) {
		uint64_t values[NR_KEYS];
		uint32_t event;
		uint32_t row;
		size_t at = 0;

		draw(&dice, values, &event);
		row = groups_row(&p, values, event);
		assert_true(row < p.rows.nr);
		for (size_t k = 0; k < NR_KEYS; k++) {
			assert_int_equal(profile_value(&p, p.rows.at[row].group, k),
					 values[k]);
			at = at * 13 + values[k];
		}
		assert_int_equal(p.rows.at[row].event, event);
		if (!row_of[at * 2 + event]) {
			nr_rows++;
			nr_groups += !row_of[at * 2 + !event];
			row_of[at * 2 + event] = row + 1;
		}
		assert_int_equal(row_of[at * 2 + event], row + 1);
	}
	assert_int_equal(p.rows.nr, nr_rows);
	assert_int_equal(p.groups.nr, nr_groups);
	assert_true(nr_groups > 1000 && nr_groups < nr_rows);
	profile_done(&p);
	keys_done(&keys);
}

/* A report without keys, only with events, has one group. */
static void without_values_there_is_one_group(void **state)
{
	struct key_list keys;
	struct profile p;

	(void)state;
	init(&p, &keys, "event");
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(groups_row(&p, (uint64_t[]){ 0 }, i % 3), i % 3);
	assert_int_equal(p.groups.nr, 1);
	assert_int_equal(p.rows.nr, 3);
	profile_done(&p);
	keys_done(&keys);
}

/* Adds pairs in order, as a first source does; then the same and other pairs in any order. */
static void finds_appended_groups(void **state)
{
	enum {
		NR_WHO = 30,
		NR_WHERE = 70
	};
	struct key_list keys;
	struct profile p;

	(void)state;
	init(&p, &keys, "pid,address");
	for (uint64_t i = 0; i < NR_WHO; i++)
		assert_int_equal(groups_tuple(&p, GROUP_WHO, &i), i);
	for (uint64_t i = 0; i < NR_WHERE; i++)
		assert_int_equal(groups_tuple(&p, GROUP_WHERE, &i), i);
	for (uint32_t i = 0; i < NR_WHO * NR_WHERE; i += 2) {
		uint32_t row =
			groups_append(&p, i / NR_WHERE, i % NR_WHERE, i % 4 ? 1 : 0);

		assert_int_equal(row, i / 2 + i / 4);
		assert_int_equal(
			groups_append(&p, i / NR_WHERE, i % NR_WHERE, i % 4 ? 1 : 0),
			row);
		if (i % 4 == 2)
			assert_int_equal(
				groups_append(&p, i / NR_WHERE, i % NR_WHERE, 2),
				row + 1);
	}
	assert_int_equal(p.groups.nr, NR_WHO * NR_WHERE / 2);
	for (uint32_t i = 0; i < NR_WHO * NR_WHERE; i++) {
		uint64_t values[] = { i / NR_WHERE, i % NR_WHERE };
		uint32_t row = groups_row(&p, values, i % 4 ? 1 : 0);

		if (i % 2 == 0)
			assert_int_equal(row, i / 2 + i / 4);
		assert_int_equal(profile_value(&p, p.rows.at[row].group, 0), values[0]);
		assert_int_equal(profile_value(&p, p.rows.at[row].group, 1), values[1]);
	}
	assert_int_equal(p.groups.nr, NR_WHO * NR_WHERE);
	profile_done(&p);
	keys_done(&keys);
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct key_list keys;
		struct profile p;
		uint32_t row = 0;

		init(&p, &keys, "pid,address");
		alloc_fail_at(n);
		for (uint64_t i = 0; i < 2000 && row != DICT_NONE; i++)
			row = groups_row(&p, (uint64_t[]){ i % 50, i }, 0);
		if (!alloc_fail_off()) {
			assert_int_equal(row, 1999);
			profile_done(&p);
			keys_done(&keys);
			break;
		}
		assert_int_equal(row, DICT_NONE);
		profile_done(&p);
		keys_done(&keys);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returns_stored_values),
		cmocka_unit_test(without_values_there_is_one_group),
		cmocka_unit_test(finds_appended_groups),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(tests);
}
