/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/vec.h"

#include "alloc_fail.h"
#include "unit.h"

struct pair {
	int a, b;
};

static void values_stay_in_order(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_true(vec_push(&v, i));
	assert_int_equal(v.nr, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(v.at[i], i);
	vec_done(&v);
	assert_null(v.at);
	assert_int_equal(v.nr + v.cap, 0);
}

static void structs_can_be_pushed(void **state)
{
	VEC(struct pair) v = { 0 };

	(void)state;
	assert_true(vec_push(&v, (struct pair){ 1, 2 }));
	assert_int_equal(v.at[0].b, 2);
	vec_done(&v);
}

static void reserved_space_needs_no_allocation(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	assert_true(vec_reserve(&v, 1000));
	assert_int_equal(v.nr, 0);
	alloc_fail_at(1);
	for (int i = 0; i < 1000; i++)
		assert_true(vec_push(&v, i));
	assert_false(alloc_fail_off());
	vec_done(&v);
}

static void allocation_failure_appends_nothing(void **state)
{
	VEC(int) v = { 0 };

	(void)state;
	alloc_fail_at(1);
	assert_false(vec_push(&v, 1));
	assert_true(alloc_fail_off());
	assert_int_equal(v.nr, 0);
	assert_true(vec_push(&v, 1));
	alloc_fail_at(1);
	assert_false(vec_reserve(&v, 100000));
	assert_true(alloc_fail_off());
	assert_int_equal(v.at[0], 1);
	vec_done(&v);
}

static void rejects_absurd_sizes(void **state)
{
	VEC(struct pair) v = { 0 };

	(void)state;
	assert_false(vec_reserve(&v, SIZE_MAX));
	assert_false(vec_reserve(&v, SIZE_MAX / 4));
	assert_null(v.at);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(values_stay_in_order),
		cmocka_unit_test(structs_can_be_pushed),
		cmocka_unit_test(reserved_space_needs_no_allocation),
		cmocka_unit_test(allocation_failure_appends_nothing),
		cmocka_unit_test(rejects_absurd_sizes),
	};

	return UNIT_RUN(cases);
}
