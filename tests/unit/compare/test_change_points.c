/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Change points of simulated series: a step is found at its index, and series without a change
 * rarely have a point. */
#include "compare/change_points.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "unit.h"

enum {
	SERIES = 1000,
	VALUES_MAX = 100
};

static const double limit = 0.05;

static uint64_t state_of_random = 88172645463325252ULL;

/* xorshift64* */
static double random_uniform(void)
{
	state_of_random ^= state_of_random >> 12;
	state_of_random ^= state_of_random << 25;
	state_of_random ^= state_of_random >> 27;
	return ((double)((state_of_random * 0x2545f4914f6cdd1dULL) >> 11) + 0.5) /
	       0x1p53;
}

static double random_normal(void)
{
	return sqrt(-2 * log(random_uniform())) * cos(2 * M_PI * random_uniform());
}

static double normal_noise(void)
{
	return 20 + random_normal();
}

/* Returns a random value; one in twenty is far off. */
static double noise_with_outliers(void)
{
	return 20 + (random_uniform() < 0.05 ? 4 : 1) * random_normal();
}

static double skewed_noise(void)
{
	return exp(0.5 * random_normal());
}

static const double no_noise[VALUES_MAX];

static struct series series_of(const double *values, size_t nr)
{
	return (struct series){ .values = values, .noise = no_noise, .nr = nr };
}

static void find(const struct series *s, struct change_points *ret)
{
	assert_int_equal(change_points_find(s, 0, limit, ret), 0);
}

/* Checks that at most `percent` of the series have a point. */
static void check_no_change(const char *name, double (*noise)(void), size_t nr,
			    size_t percent)
{
	size_t with_points = 0;

	for (size_t i = 0; i < SERIES; i++) {
		double values[VALUES_MAX];
		struct series s = series_of(values, nr);
		struct change_points points;

		for (size_t j = 0; j < nr; j++)
			values[j] = noise();
		find(&s, &points);
		with_points += points.points.nr > 0;
		change_points_done(&points);
	}
	print_message("# %s, %zu values: %zu of %d series have a point\n", name, nr,
		      with_points, SERIES);
	assert_true(with_points * 100 <= percent * SERIES);
}

static void series_without_change_have_no_points(void **state)
{
	static const size_t lengths[] = { 4, 6, 10, 20, 50, 100 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(lengths); i++) {
		check_no_change("normal", normal_noise, lengths[i], 3);
		check_no_change("outliers", noise_with_outliers, lengths[i], 5);
		check_no_change("skewed", skewed_noise, lengths[i], 6);
	}
}

/* Checks how a step is found: one of 5 deviations is found in 95 of 100 series, at most one value
 * away from its index. */
static void check_step(size_t nr, size_t at, double step, size_t least)
{
	size_t found = 0;

	for (size_t i = 0; i < SERIES; i++) {
		double values[VALUES_MAX];
		struct series s = series_of(values, nr);
		struct change_points points;
		bool hit = false;

		for (size_t j = 0; j < nr; j++)
			values[j] = normal_noise() + (j < at ? 0 : step);
		find(&s, &points);
		for (size_t j = 0; j < points.points.nr; j++)
			hit |= points.points.at[j].at + 1 >= at &&
			       points.points.at[j].at <= at + 1;
		found += hit;
		change_points_done(&points);
	}
	print_message("# step of %g at %zu of %zu: found in %zu of %d\n", step, at, nr,
		      found, SERIES);
	assert_true(found >= least);
}

static void a_step_is_found_at_its_index(void **state)
{
	(void)state;
	check_step(20, 10, 5, 950);
	check_step(20, 17, 5, 950);
	check_step(60, 40, 4, 950);
	check_step(60, 40, -4, 950);
	/* Only the newest value is after the step. */
	check_step(30, 29, 8, 950);
}

static void exact_steps_have_exact_means(void **state)
{
	static const double values[] = { 10.1, 9.9,  10, 10.1, 9.9, 30.2, 29.8, 30,
					 30.1, 29.9, 10, 10.1, 9.9, 10,   10 };
	struct series s = series_of(values, COUNT_OF(values));
	struct change_points points;

	(void)state;
	find(&s, &points);
	assert_int_equal(points.points.nr, 2);
	assert_int_equal(points.points.at[0].at, 5);
	assert_int_equal(points.points.at[1].at, 10);
	assert_true(fabs(points.points.at[0].before - 10) < 1e-9);
	assert_true(fabs(points.points.at[0].after - 30) < 1e-9);
	assert_true(fabs(points.points.at[1].after - 10) < 1e-9);
	/* The changes are 20, but not significantly more than 19.9. */
	change_points_prune(&s, 19.9, limit, &points);
	assert_int_equal(points.points.nr, 0);
	assert_true(points.least_p > limit);
	change_points_done(&points);
}

static void a_single_different_value_is_no_change(void **state)
{
	static const double values[] = { 10.1, 9.9,  10,  10.1, 9.9, 30,
					 10,   10.1, 9.9, 10,   10.2 };
	struct series s = series_of(values, COUNT_OF(values));
	struct change_points points;

	(void)state;
	find(&s, &points);
	assert_int_equal(points.points.nr, 0);
	change_points_done(&points);
	/* A single value counts as a change if it is the newest. */
	s.nr = 6;
	find(&s, &points);
	assert_int_equal(points.points.nr, 1);
	assert_int_equal(points.points.at[0].at, 5);
	change_points_done(&points);
}

static void values_vary_at_least_by_sampling(void **state)
{
	static const double values[] = { 10, 10, 10, 10, 10, 12, 12, 12, 12, 12 };
	double noise[COUNT_OF(values)];
	struct series s = { .values = values, .noise = noise, .nr = COUNT_OF(values) };
	struct change_points points;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++)
		noise[i] = 0.5; /* a standard deviation of 2.3 */
	find(&s, &points);
	assert_int_equal(points.points.nr, 0);
	change_points_done(&points);
	for (size_t i = 0; i < COUNT_OF(values); i++)
		noise[i] = 0.001;
	find(&s, &points);
	assert_int_equal(points.points.nr, 1);
	change_points_done(&points);
}

/* The values follow what all rows have in common; the rest does not change. */
static void both_series_must_change(void **state)
{
	static const double values[] = {
		10.1, 9.9, 10, 10.1, 9.9, 8.1, 7.9, 8, 8.1, 7.9
	};
	static const double relative[] = { 10.1, 9.9, 10,    10.1, 9.9,
					   10.1, 9.9, 10.05, 10.1, 9.9 };
	struct series s = series_of(values, COUNT_OF(values));
	struct change_points points;

	(void)state;
	find(&s, &points);
	assert_int_equal(points.points.nr, 1);
	change_points_done(&points);
	s.relative = relative;
	find(&s, &points);
	assert_int_equal(points.points.nr, 0);
	change_points_done(&points);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(series_without_change_have_no_points),
		cmocka_unit_test(a_step_is_found_at_its_index),
		cmocka_unit_test(exact_steps_have_exact_means),
		cmocka_unit_test(a_single_different_value_is_no_change),
		cmocka_unit_test(values_vary_at_least_by_sampling),
		cmocka_unit_test(both_series_must_change),
	};

	return UNIT_RUN(cases);
}
