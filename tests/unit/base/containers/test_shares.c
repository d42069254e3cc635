/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/shares.h"

#include <errno.h>

#include "alloc_fail.h"
#include "unit.h"

static void adds_up_amounts(void **state)
{
	struct shares s = { 0 };

	(void)state;
	assert_int_equal(shares_add(&s, 1, 10), 0);
	assert_int_equal(shares_add(&s, 2, 5), 0);
	assert_int_equal(shares_add(&s, 1, 3), 0);
	assert_int_equal(shares_add(&s, 3, 0), 0);
	assert_int_equal(shares_of(&s, 1), 13);
	assert_int_equal(shares_of(&s, 2), 5);
	assert_int_equal(shares_of(&s, 3), 0);
	assert_int_equal(s.total, 18);
	assert_int_equal(s.users.nr, 2);
	shares_remove(&s, 1, 13);
	shares_remove(&s, 3, 1);
	assert_int_equal(shares_of(&s, 1), 0);
	assert_int_equal(shares_of(&s, 2), 5);
	assert_int_equal(s.total, 5);
	shares_done(&s);
}

static void the_largest_holder_is_evicted(void **state)
{
	struct shares s = { 0 };

	(void)state;
	assert_int_equal(shares_giver(&s, 7, 1), 7);
	assert_int_equal(shares_add(&s, 1, 10), 0);
	assert_int_equal(shares_add(&s, 2, 5), 0);
	/* The requester would still have less than user 1. */
	assert_int_equal(shares_giver(&s, 2, 1), 1);
	assert_int_equal(shares_giver(&s, 7, 9), 1);
	/* A requester who would have at least as much as the others has to give something up. */
	assert_int_equal(shares_giver(&s, 2, 5), 2);
	assert_int_equal(shares_giver(&s, 7, 11), 7);
	assert_int_equal(shares_giver(&s, 1, 1), 1);
	shares_done(&s);
}

static void allocation_failure_changes_nothing(void **state)
{
	struct shares s = { 0 };

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(shares_add(&s, 1, 10), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_int_equal(s.total, 0);
	assert_int_equal(shares_of(&s, 1), 0);
	shares_done(&s);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(adds_up_amounts),
		cmocka_unit_test(the_largest_holder_is_evicted),
		cmocka_unit_test(allocation_failure_changes_nothing),
	};

	return UNIT_RUN(cases);
}
