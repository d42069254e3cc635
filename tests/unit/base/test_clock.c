/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

#include "unit.h"

static void expect_offsets(const char *text, int64_t monotonic_ns, int64_t boottime_ns)
{
	struct clock_offsets o;

	clock_parse_offsets(text, &o);
	assert_true((int64_t)o.monotonic_ns == monotonic_ns);
	assert_true((int64_t)o.boottime_ns == boottime_ns);
}

static void offsets_of_a_time_namespace_are_parsed(void **state)
{
	(void)state;
	expect_offsets(
		"monotonic      50000         7\nboottime      100000         0\n",
		50000 * NS_PER_S + 7, 100000 * NS_PER_S);
	expect_offsets("boottime 1 2\nmonotonic -20000 500000000\n",
		       -20000 * NS_PER_S + 500000000, NS_PER_S + 2);
	expect_offsets("monotonic 3 0", 3 * NS_PER_S, 0);
}

static void malformed_offsets_are_0(void **state)
{
	(void)state;
	expect_offsets("", 0, 0);
	expect_offsets("\n\nmonotonic\nboottime x y\n", 0, 0);
	expect_offsets("other 5 5\nmonotonic 1\n", 0, 0);
	expect_offsets("averyveryverylongname 1 2\n", 0, 0);
}

/* No other clock differs between time namespaces. */
static void other_clocks_have_no_offset(void **state)
{
	uint64_t before = clock_now_ns(CLOCK_REALTIME);
	uint64_t now = clock_initial_ns(CLOCK_REALTIME);

	(void)state;
	assert_true(now >= before && now <= clock_now_ns(CLOCK_REALTIME));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(offsets_of_a_time_namespace_are_parsed),
		cmocka_unit_test(malformed_offsets_are_0),
		cmocka_unit_test(other_clocks_have_no_offset),
	};

	return UNIT_RUN(cases);
}
