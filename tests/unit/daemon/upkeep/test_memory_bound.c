/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/memory_bound.h"

#include "unit.h"

enum {
	MB = 1 << 20
};

static const uint64_t second_ns = 1000000000;

static void more_than_the_bound_is_too_much(void **state)
{
	const struct memory_bound b = { .max_bytes = 100 * MB };

	(void)state;
	assert_false(memory_bound_exceeded(&b, second_ns, 100 * MB));
	assert_true(memory_bound_exceeded(&b, second_ns, 100 * MB + 1));
}

static void without_a_bound_nothing_is_too_much(void **state)
{
	const struct memory_bound b = { 0 };

	(void)state;
	assert_false(memory_bound_exceeded(&b, second_ns, UINT64_MAX));
}

/* Memory that the daemon always uses does not make it restart again and again. */
static void a_restart_that_does_not_help_is_not_repeated_at_once(void **state)
{
	struct memory_bound b = { .max_bytes = 100 * MB };

	(void)state;
	memory_bound_restarted(&b, 1000 * second_ns, 120 * MB);
	assert_false(memory_bound_exceeded(&b, 1001 * second_ns, 120 * MB));
	assert_false(memory_bound_exceeded(&b, 1059 * second_ns, 170 * MB));
	assert_true(memory_bound_exceeded(&b, 1060 * second_ns, 101 * MB));
}

static void a_recording_that_grows_is_given_up_soon(void **state)
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
		cmocka_unit_test(more_than_the_bound_is_too_much),
		cmocka_unit_test(without_a_bound_nothing_is_too_much),
		cmocka_unit_test(a_restart_that_does_not_help_is_not_repeated_at_once),
		cmocka_unit_test(a_recording_that_grows_is_given_up_soon),
	};

	return UNIT_RUN(cases);
}
