/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/map.h"

#include <errno.h>

#include "alloc_fail.h"
#include "unit.h"

static void an_empty_map_has_nothing(void **state)
{
	struct map m = { 0 };

	(void)state;
	assert_true(map_get(&m, 0, 0) == MAP_NONE);
	map_done(&m);
}

static void finds_many_pairs(void **state)
{
	struct map m = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(map_set(&m, i % 100, i / 100, i), 0);
	assert_int_equal(m.nr, 20000);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(map_get(&m, i % 100, i / 100), i);
	assert_true(map_get(&m, 100, 0) == MAP_NONE);
	assert_true(map_get(&m, 0, 200) == MAP_NONE);
	/* The table is never so full that a search would not end. */
	assert_true(m.nr * 8 <= (m.mask + 1) * 5);
	map_done(&m);
	assert_true(map_get(&m, 1, 1) == MAP_NONE);
}

static void distinguishes_the_order_of_a_pair(void **state)
{
	struct map m = { 0 };

	(void)state;
	assert_int_equal(map_set(&m, 1, 2, 12), 0);
	assert_int_equal(map_set(&m, 2, 1, 21), 0);
	assert_int_equal(map_get(&m, 1, 2), 12);
	assert_int_equal(map_get(&m, 2, 1), 21);
	map_done(&m);
}

static void setting_again_replaces(void **state)
{
	struct map m = { 0 };

	(void)state;
	assert_int_equal(map_set(&m, UINT64_MAX, UINT64_MAX, 0), 0);
	assert_int_equal(map_get(&m, UINT64_MAX, UINT64_MAX), 0);
	assert_int_equal(map_set(&m, UINT64_MAX, UINT64_MAX, MAP_NONE - 1), 0);
	assert_int_equal(map_get(&m, UINT64_MAX, UINT64_MAX), MAP_NONE - 1);
	assert_int_equal(m.nr, 1);
	map_done(&m);
}

static void at_distinguishes_new_and_old(void **state)
{
	struct map m = { 0 };
	struct map_slot *slot;
	bool is_new = false;

	(void)state;
	slot = map_at(&m, 5, 6, &is_new);
	assert_non_null(slot);
	assert_true(is_new);
	slot->value_plus_1 = 42;
	slot = map_at(&m, 5, 6, &is_new);
	assert_false(is_new);
	assert_int_equal(slot->value_plus_1, 42);
	assert_int_equal(map_get(&m, 5, 6), 41);
	map_done(&m);
}

/* Compares the map with an array; every removal moves other entries. */
static void removes_only_the_given_keys(void **state)
{
	enum {
		NR = 3000
	};
	struct map m = { 0 };
	bool there[NR] = { 0 };
	uint32_t random = 1;

	(void)state;
	map_remove(&m, 1, 1);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t key;

		random = random * 1664525 + 1013904223;
		key = (random >> 8) % NR;
		if (random & 128)
			map_remove(&m, key % 7, key);
		else
			assert_int_equal(map_set(&m, key % 7, key, key), 0);
		there[key] = !(random & 128);
	}
	size_t nr = 0;
	for (uint32_t i = 0; i < NR; i++) {
		assert_int_equal(map_get(&m, i % 7, i), there[i] ? i : MAP_NONE);
		nr += there[i];
	}
	assert_int_equal(m.nr, nr);
	map_done(&m);
}

static void a_list_stays_without_gaps(void **state)
{
	struct map m = { 0 };

	(void)state;
	map_remove_from_list(&m, 9, 1);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(map_set(&m, 9, i, 10 + i), 0);
	map_remove_from_list(&m, 9, 11);
	assert_int_equal(map_get(&m, 9, 0), 10);
	assert_int_equal(map_get(&m, 9, 1), 13);
	assert_int_equal(map_get(&m, 9, 2), 12);
	assert_int_equal(map_get(&m, 9, 3), MAP_NONE);
	map_remove_from_list(&m, 9, 99);
	map_remove_from_list(&m, 9, 12);
	map_remove_from_list(&m, 9, 10);
	assert_int_equal(map_get(&m, 9, 0), 13);
	map_remove_from_list(&m, 9, 13);
	assert_int_equal(map_get(&m, 9, 0), MAP_NONE);
	assert_int_equal(m.nr, 0);
	map_done(&m);
}

static void allocation_failure_leaves_the_map_intact(void **state)
{
	struct map m = { 0 };
	uint32_t nr = 0;
	bool is_new;

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(map_set(&m, 1, 1, 1), -ENOMEM);
	assert_null(map_at(&m, 1, 1, &is_new));
	assert_true(alloc_fail_off());

	/* The first allocation succeeds, the next one (to grow) fails. */
	alloc_fail_at(2);
	while (map_set(&m, nr, 0, nr) == 0)
		nr++;
	assert_true(alloc_fail_off());
	assert_true(nr > 0);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(map_get(&m, i, 0), i);
	assert_int_equal(map_set(&m, nr, 0, nr), 0);
	map_done(&m);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(finds_many_pairs),
		cmocka_unit_test(distinguishes_the_order_of_a_pair),
		cmocka_unit_test(setting_again_replaces),
		cmocka_unit_test(at_distinguishes_new_and_old),
		cmocka_unit_test(removes_only_the_given_keys),
		cmocka_unit_test(a_list_stays_without_gaps),
		cmocka_unit_test(allocation_failure_leaves_the_map_intact),
	};

	return UNIT_RUN(cases);
}
