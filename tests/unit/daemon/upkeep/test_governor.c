/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/upkeep/governor.h"

#include <math.h>
#include <string.h>

#include "unit.h"

static const uint64_t second = 1000000000;

static void computes_shares(void **state)
{
	static const char *const wrong[] = { "",    "%",   "0", "0%",  "-1%", "101%",
					     "1.1", "1 %", "x", "1%%", "nan" };
	double share = 0;

	(void)state;
	assert_int_equal(governor_parse("1%", &share), 0);
	assert_true(fabs(share - 0.01) < 1e-12);
	assert_int_equal(governor_parse("0.3%", &share), 0);
	assert_true(fabs(share - 0.003) < 1e-12);
	assert_int_equal(governor_parse("0.5", &share), 0);
	assert_true(fabs(share - 0.5) < 1e-12);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		if (!governor_parse(wrong[i], &share))
			fail_msg("\"%s\" was taken", wrong[i]);
}

static bool look(struct governor *g, uint64_t s, uint64_t cpu_ns)
{
	struct governor_use use = { .cpu_ns = cpu_ns, .sampling_ns = cpu_ns };

	return governor_look(g, s * second, &use);
}

static void begin(struct governor *g, uint64_t s, uint64_t cpu_ns)
{
	struct governor_use use = { .cpu_ns = cpu_ns, .sampling_ns = cpu_ns };

	governor_begin(g, s * second, &use);
}

/* A daemon that needs 200 us per sample on two CPUs, for ten minutes: at 99 Hz this is 4 % of a
 * CPU. */
static void lowers_a_costly_rate(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };
	uint64_t cpu = 0;
	char text[128];

	(void)state;
	begin(&g, 0, cpu);
	for (uint64_t s = 1; s <= 600; s++) {
		cpu += 2 * g.rate_hz * 200000;
		if (look(&g, s, cpu))
			begin(&g, s, cpu);
	}
	/* 1 % corresponds to 25 Hz. */
	assert_true(g.rate_hz >= 15 && g.rate_hz <= 25);
	assert_true(g.share <= 0.01);
	governor_text(&g, text, sizeof(text));
	assert_non_null(strstr(text, "instead of 99 Hz, to use at most 1 %"));
}

/* The kernel's time also counts, and both are divided by the number of CPUs: 100 + 20 us per
 * sample. */
static void includes_the_kernels_cost(void **state)
{
	struct governor g = { .max_share = 0.01,
			      .wanted_hz = 999,
			      .rate_hz = 999,
			      .sample_ns = 100000,
			      .nr_cpus = 4 };
	struct governor_use use = { 0 };

	(void)state;
	governor_begin(&g, 0, &use);
	for (uint64_t s = 1; s <= 600; s++) {
		/* The values of the last second. */
		use.samples += 4 * g.rate_hz;
		use.samples_ns += second;
		use.cpu_ns += 4 * g.rate_hz * 20000;
		use.sampling_ns = use.cpu_ns;
		if (governor_look(&g, s * second, &use))
			governor_begin(&g, s * second, &use);
	}
	/* 1 % corresponds to 83 Hz, but the minimum is a tenth. */
	assert_int_equal(g.rate_hz, 100);
	assert_true(g.kernel_share > 0.0399 && g.kernel_share < 0.0401);
	assert_true(g.share > 0.0079 && g.share < 0.0081);
	assert_true(governor_overhead(&g) > 0.0119 && governor_overhead(&g) < 0.0121);
	/* A recording that has ended has not used any time since. */
	use.samples = 0;
	assert_false(governor_look(&g, 700 * second, &use));
	assert_true(g.kernel_share == 0);
}

/* Events with counts have no rate, so it is not lowered. */
static void does_not_lower_counts(void **state)
{
	struct governor g = { .max_share = 0.01 };
	char text[128];

	(void)state;
	begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 60; s++)
		assert_false(look(&g, s, s * second / 2));
	assert_int_equal(g.rate_hz, 0);
	governor_text(&g, text, sizeof(text));
	assert_non_null(strstr(text, "explicit counts"));
}

static void the_rate_has_a_minimum(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };

	(void)state;
	begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 600; s++)
		if (look(&g, s, s * second / 50))
			begin(&g, s, s * second / 50);
	assert_int_equal(g.rate_hz, 10);
}

/* The first window of a recording is ignored; if sampling is cheap, the rate stays as
 * requested. */
static void ignores_the_start(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };
	uint64_t cpu = 3 * second;
	char text[128];

	(void)state;
	begin(&g, 0, 0);
	assert_false(look(&g, 9, cpu));
	assert_false(look(&g, 10, cpu));
	assert_true(g.share > 0.29);
	for (uint64_t s = 11; s <= 600; s++) {
		cpu += 3000000;
		assert_false(look(&g, s, cpu));
	}
	assert_int_equal(g.rate_hz, 99);
	governor_text(&g, text, sizeof(text));
	assert_non_null(strstr(text, "the requested one"));
}

/* When the load is gone, the rate rises again in steps, but not above the requested rate. */
static void raises_the_rate_again(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 10 };
	uint64_t steps = 0;

	(void)state;
	begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 1200; s++) {
		if (look(&g, s, s * 100000)) {
			steps++;
			begin(&g, s, s * 100000);
		}
	}
	assert_int_equal(g.rate_hz, 99);
	assert_true(steps >= 4 && steps <= 8);
}

static void does_nothing_without_a_limit(void **state)
{
	struct governor g = { .wanted_hz = 99, .rate_hz = 99 };

	(void)state;
	begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 100; s++)
		assert_false(look(&g, s, s * second));
	assert_true(g.share > 0.99 && g.is_known);
}

/* Users' tables and copies have budgets: 90 % of a CPU for these, and everything else within the
 * limit. */
static void work_for_users_lowers_no_rate(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };
	struct governor_use use = { 0 };

	(void)state;
	governor_begin(&g, 0, &use);
	for (uint64_t s = 1; s <= 600; s++) {
		use.sampling_ns += second / 125;
		use.cpu_ns += second / 10 * 9 + second / 125;
		assert_false(governor_look(&g, s * second, &use));
	}
	/* The cost is reported anyway. */
	assert_true(fabs(g.share - 0.908) < 1e-9);
	assert_true(fabs(governor_overhead(&g) - 0.008) < 1e-9);
	use.cpu_ns += second;
	use.sampling_ns += second;
	assert_true(governor_look(&g, 610 * second, &use));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computes_shares),
		cmocka_unit_test(lowers_a_costly_rate),
		cmocka_unit_test(does_not_lower_counts),
		cmocka_unit_test(includes_the_kernels_cost),
		cmocka_unit_test(the_rate_has_a_minimum),
		cmocka_unit_test(ignores_the_start),
		cmocka_unit_test(raises_the_rate_again),
		cmocka_unit_test(does_nothing_without_a_limit),
		cmocka_unit_test(work_for_users_lowers_no_rate),
	};

	return UNIT_RUN(tests);
}
