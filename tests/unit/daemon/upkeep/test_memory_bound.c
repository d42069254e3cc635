/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/memory_bound.h"

#include "unit.h"

enum {
	MB = 1 << 20
};

static const uint64_t second_ns = 1000000000;

static void restarts_above_the_limit(void **state)
{
	const struct memory_bound b = { .max_bytes = 100 * MB };

	(void)state;
	assert_false(memory_bound_exceeded(&b, second_ns, 100 * MB));
	assert_true(memory_bound_exceeded(&b, second_ns, 100 * MB + 1));
}

static void never_restarts_without_a_limit(void **state)
{
	const struct memory_bound b = { 0 };

	(void)state;
	assert_false(memory_bound_exceeded(&b, second_ns, UINT64_MAX));
}

/* Memory that the daemon always uses does not make it restart again and again. */
static void does_not_repeat_a_useless_restart_at_once(void **state)
{
	struct memory_bound b = { .max_bytes = 100 * MB };

	(void)state;
	memory_bound_restarted(&b, 1000 * second_ns, 120 * MB);
	assert_false(memory_bound_exceeded(&b, 1001 * second_ns, 120 * MB));
	assert_false(memory_bound_exceeded(&b, 1059 * second_ns, 170 * MB));
	assert_true(memory_bound_exceeded(&b, 1060 * second_ns, 101 * MB));
}

static void gives_up_on_a_fast_growing_recording(void **state)
{
	struct memory_bound b = { .max_bytes = 100 * MB };

	(void)state;
	memory_bound_restarted(&b, 1000 * second_ns, 20 * MB);
	assert_false(memory_bound_exceeded(&b, 1001 * second_ns, 150 * MB));
	assert_true(memory_bound_exceeded(&b, 1001 * second_ns, 151 * MB));
	memory_bound_restarted(&b, 1002 * second_ns, 120 * MB);
	assert_false(memory_bound_exceeded(&b, 1003 * second_ns, 170 * MB));
	assert_true(memory_bound_exceeded(&b, 1003 * second_ns, 171 * MB));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(restarts_above_the_limit),
		cmocka_unit_test(never_restarts_without_a_limit),
		cmocka_unit_test(does_not_repeat_a_useless_restart_at_once),
		cmocka_unit_test(gives_up_on_a_fast_growing_recording),
	};

	return UNIT_RUN(cases);
}
