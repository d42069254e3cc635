#include "daemon/governor.h"

#include <math.h>
#include <string.h>

#include "unit.h"

static const uint64_t second = 1000000000;

static void shares(void **state)
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
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!governor_parse(wrong[i], &share))
			fail_msg("\"%s\" was taken", wrong[i]);
}

/* A daemon that costs 200 us a sample on two CPUs, for ten minutes: 99 Hz is 4 % of a CPU. */
static void a_costly_rate_is_lowered(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };
	uint64_t cpu = 0;
	char text[128];

	(void)state;
	governor_begin(&g, 0, cpu);
	for (uint64_t s = 1; s <= 600; s++) {
		cpu += 2 * g.rate_hz * 200000;
		if (governor_look(&g, s * second, cpu))
			governor_begin(&g, s * second, cpu);
	}
	/* 1 % is 25 Hz of it. */
	assert_true(g.rate_hz >= 15 && g.rate_hz <= 25);
	assert_true(g.share <= 0.01);
	governor_text(&g, text, sizeof(text));
	assert_non_null(strstr(text, "instead of 99: at most 1 %"));
}

/* Where the samples are not what costs, there are some nevertheless. */
static void the_rate_has_an_end(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };

	(void)state;
	governor_begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 600; s++)
		if (governor_look(&g, s * second, s * second / 50))
			governor_begin(&g, s * second, s * second / 50);
	assert_int_equal(g.rate_hz, 10);
}

/* The first window of a recording is not judged; what is cheap stays as asked. */
static void beginnings_are_not_judged(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 99 };
	uint64_t cpu = 3 * second;
	char text[128];

	(void)state;
	governor_begin(&g, 0, 0);
	assert_false(governor_look(&g, 9 * second, cpu));
	assert_false(governor_look(&g, 10 * second, cpu));
	assert_true(g.share > 0.29);
	for (uint64_t s = 11; s <= 600; s++) {
		cpu += 3000000;
		assert_false(governor_look(&g, s * second, cpu));
	}
	assert_int_equal(g.rate_hz, 99);
	governor_text(&g, text, sizeof(text));
	assert_non_null(strstr(text, "as asked"));
}

/* When the load is gone the rate comes back, in steps, and not above what was asked. */
static void the_rate_comes_back(void **state)
{
	struct governor g = { .max_share = 0.01, .wanted_hz = 99, .rate_hz = 10 };
	uint64_t steps = 0;

	(void)state;
	governor_begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 1200; s++) {
		if (governor_look(&g, s * second, s * 100000)) {
			steps++;
			governor_begin(&g, s * second, s * 100000);
		}
	}
	assert_int_equal(g.rate_hz, 99);
	assert_true(steps >= 4 && steps <= 8);
}

static void without_a_bound_nothing_changes(void **state)
{
	struct governor g = { .wanted_hz = 99, .rate_hz = 99 };

	(void)state;
	governor_begin(&g, 0, 0);
	for (uint64_t s = 1; s <= 100; s++)
		assert_false(governor_look(&g, s * second, s * second));
	assert_true(g.share > 0.99 && g.is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares),
		cmocka_unit_test(a_costly_rate_is_lowered),
		cmocka_unit_test(the_rate_has_an_end),
		cmocka_unit_test(beginnings_are_not_judged),
		cmocka_unit_test(the_rate_comes_back),
		cmocka_unit_test(without_a_bound_nothing_changes),
	};

	return UNIT_RUN(tests);
}
