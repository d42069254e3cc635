/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "base/clock.h"
#include "resolve/replay/stack_budget.h"

enum {
	DEEP = 2000, /* frames of a stack */
	PER_S = 200 * STACK_BUDGET_PER_SAMPLE,
	MOST = STACK_BUDGET_SECONDS * PER_S
};

static void count_cut(void *ctx, uint32_t user)
{
	unsigned int *nr = ctx;

	assert_int_equal(user, 1000);
	++*nr;
}

static void test_a_used_up_budget_cuts_one_users_stacks(void **unused)
{
	unsigned int nr_cut = 0;
	struct stack_budget b = { .rate_hz = 200, .on_cut = count_cut, .ctx = &nr_cut };

	(void)unused;
	assert_int_equal(stack_budget_frames(&b, 1000, NS_PER_S, DEEP), DEEP);
	stack_budget_spend(&b, 1000, MOST + PER_S);
	assert_int_equal(stack_budget_frames(&b, 1000, NS_PER_S, DEEP),
			 STACK_BUDGET_FRAMES);
	assert_int_equal(stack_budget_frames(&b, 1000, NS_PER_S, 2), 2);
	/* Other users keep their budgets. */
	stack_budget_spend(&b, 0, UINT32_MAX);
	assert_int_equal(stack_budget_frames(&b, 0, NS_PER_S, DEEP), DEEP);
	assert_int_equal(stack_budget_frames(&b, 1001, NS_PER_S, DEEP), DEEP);
	/* The time of an older sample has no effect on the budget. */
	assert_int_equal(stack_budget_frames(&b, 1000, NS_PER_S / 2, DEEP),
			 STACK_BUDGET_FRAMES);
	assert_int_equal(stack_budget_frames(&b, 1000, 2 * NS_PER_S + NS_PER_MS, DEEP),
			 DEEP);
	/* The budget grows to its maximum. */
	assert_int_equal(stack_budget_frames(&b, 1000, 100000 * NS_PER_S, DEEP), DEEP);
	stack_budget_spend(&b, 1000, MOST);
	assert_int_equal(stack_budget_frames(&b, 1000, 100000 * NS_PER_S, DEEP),
			 STACK_BUDGET_FRAMES);
	assert_int_equal(nr_cut, 1); /* reported once */
	stack_budget_done(&b);
}

static void test_without_a_rate_there_is_no_limit(void **unused)
{
	struct stack_budget b = { 0 };

	(void)unused;
	stack_budget_spend(&b, 1000, UINT32_MAX);
	stack_budget_spend(&b, 1000, UINT32_MAX);
	assert_int_equal(stack_budget_frames(&b, 1000, NS_PER_S, DEEP), DEEP);
	stack_budget_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_used_up_budget_cuts_one_users_stacks),
		cmocka_unit_test(test_without_a_rate_there_is_no_limit),
	};

	return UNIT_RUN(tests);
}
