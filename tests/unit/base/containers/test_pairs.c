/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/pairs.h"

#include "alloc_fail.h"
#include "unit.h"

static uint32_t add(struct pairs *p, uint32_t a, uint32_t b, uint32_t value)
{
	bool is_new;
	uint32_t *cell = pairs_at(p, a, b, &is_new);

	assert_non_null(cell);
	if (is_new)
		*cell = value + 1;
	return *cell - 1;
}

static void finds_many_pairs(void **state)
{
	struct pairs p = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 200000; i++)
		assert_int_equal(add(&p, i % 100, i / 100, i), i);
	assert_int_equal(p.nr, 200000);
	for (uint32_t i = 0; i < 200000; i++)
		assert_int_equal(add(&p, i % 100, i / 100, 7), i);
	assert_int_equal(p.nr, 200000);
	/* The table is never so full that a search would not end. */
	assert_true(p.nr <= p.mask);
	pairs_done(&p);
	assert_int_equal(p.nr, 0);
}

static void distinguishes_the_order_of_a_pair(void **state)
{
	struct pairs p = { 0 };

	(void)state;
	assert_int_equal(add(&p, 1, 2, 12), 12);
	assert_int_equal(add(&p, 2, 1, 21), 21);
	assert_int_equal(add(&p, 1, 2, 0), 12);
	assert_int_equal(add(&p, 0, 0, 5), 5);
	assert_int_equal(add(&p, UINT32_MAX, UINT32_MAX, 6), 6);
	assert_int_equal(add(&p, 0, 0, 0), 5);
	pairs_done(&p);
}

/* The table keeps its entries if it cannot grow. */
static void allocation_failure_loses_nothing(void **state)
{
	struct pairs p = { 0 };
	bool is_new;
	uint32_t nr = 0;

	(void)state;
	alloc_fail_at(1);
	assert_null(pairs_at(&p, 1, 1, &is_new));
	assert_true(alloc_fail_off());

	/* The first allocation succeeds, the next one (to grow) fails. */
	alloc_fail_at(2);
	for (;; nr++) {
		uint32_t *cell = pairs_at(&p, nr, 3, &is_new);

		if (!cell)
			break;
		*cell = nr + 1;
	}
	assert_true(alloc_fail_off());
	assert_true(nr > 0);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(add(&p, i, 3, 0), i);
	pairs_done(&p);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(finds_many_pairs),
		cmocka_unit_test(distinguishes_the_order_of_a_pair),
		cmocka_unit_test(allocation_failure_loses_nothing),
	};

	return UNIT_RUN(cases);
}
