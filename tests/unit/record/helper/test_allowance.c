/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests a limit on CPU time for others, with a clock that the test sets. */
#include "record/helper/allowance.h"

#include "unit.h"

static const uint64_t ms = 1000000;
static const uint64_t s = 1000000000;
static const struct allowance_rule rule = { .at_once_ns = 20000000,
					    .owed_max_ns = 6000000,
					    .part = 500 };

/* A burst of 20 ms, then 2 ms per second. */
static void allows_a_burst_and_a_share(void **state)
{
	struct allowance a;

	(void)state;
	allowance_begin(&a, &rule, s);
	assert_int_equal(allowance_spend(&a, s, 15 * ms), 0);
	assert_int_equal(allowance_spend(&a, s, 5 * ms), 0);
	assert_int_equal(allowance_spend(&a, s, 1 * ms), s / 2);
	/* After the wait exactly that time is available. */
	assert_int_equal(allowance_spend(&a, s + s / 2, 0), 0);
	assert_int_equal(allowance_spend(&a, s + s / 2, 1 * ms), s / 2);
	/* The saved time is never more than at the start. */
	assert_int_equal(allowance_spend(&a, 1000 * s, 20 * ms), 0);
	assert_int_equal(allowance_spend(&a, 1000 * s, 2 * ms), s);
}

/* No wait is endless, a clock that stops or goes back earns nothing, and fractions of a
 * nanosecond add up. */
static void handles_extreme_values(void **state)
{
	struct allowance a;
	uint64_t at = 5 * s;

	(void)state;
	allowance_begin(&a, &rule, at);
	assert_int_equal(allowance_spend(&a, at, UINT64_MAX), 3 * s);
	assert_int_equal(allowance_spend(&a, at, UINT64_MAX), 3 * s);
	assert_int_equal(allowance_spend(&a, 0, 0), 3 * s);
	for (unsigned int i = 0; i < 1000000; i++)
		(void)allowance_spend(&a, at += 100, 0);
	assert_int_equal(allowance_spend(&a, at, 0), 3 * s - s / 10);
	allowance_begin(&a, &rule, 0);
	assert_int_equal(allowance_spend(&a, UINT64_MAX, 21 * ms), s / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allows_a_burst_and_a_share),
		cmocka_unit_test(handles_extreme_values),
	};

	return UNIT_RUN(tests);
}
