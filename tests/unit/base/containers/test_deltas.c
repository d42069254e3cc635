/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/deltas.h"

#include "unit.h"

static uint64_t gain(struct deltas *d, uint64_t a, uint64_t b, uint64_t total)
{
	uint64_t g = 0;

	assert_int_equal(deltas_take(d, a, b, total, &g), 0);
	return g;
}

static void keeps_totals_separate_by_both_numbers(void **state)
{
	struct deltas d = { 0 };

	(void)state;
	assert_int_equal(gain(&d, 1, 2, 10), 10);
	assert_int_equal(gain(&d, 1, 2, 10), 0);
	assert_int_equal(gain(&d, 2, 1, 7), 7);
	assert_int_equal(gain(&d, 1, 2, 25), 15);
	assert_int_equal(gain(&d, 1, 3, UINT64_MAX), UINT64_MAX);
	assert_int_equal(gain(&d, 2, 1, 8), 1);
	deltas_done(&d);
}

static void a_smaller_total_restarts(void **state)
{
	struct deltas d = { 0 };

	(void)state;
	assert_int_equal(gain(&d, 0, 0, 100), 100);
	assert_int_equal(gain(&d, 0, 0, 40), 40);
	assert_int_equal(gain(&d, 0, 0, 41), 1);
	deltas_done(&d);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(keeps_totals_separate_by_both_numbers),
		cmocka_unit_test(a_smaller_total_restarts),
	};

	return UNIT_RUN(cases);
}
