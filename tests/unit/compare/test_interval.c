/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/interval.h"
#include "compare/student.h"

#include <math.h>

#include "base/array.h"
#include "compare/discovery.h"
#include "unit.h"

#define assert_near(a, b, most) assert_true(fabs((a) - (b)) <= (most))

/* Tables of Student's t, two-sided 95 % and 99 %. */
static void quantiles_are_those_of_the_tables(void **state)
{
	static const struct {
		double alpha, df, want;
	} rows[] = {
		{ 0.05, 1, 12.7062 },   { 0.05, 2, 4.30265 },   { 0.05, 8, 2.30600 },
		{ 0.05, 30, 2.04227 },  { 0.05, 1e6, 1.95997 }, { 0.01, 4, 4.60409 },
		{ 0.01, 120, 2.61742 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_near(student_critical(rows[i].alpha, rows[i].df), rows[i].want,
			    1e-4);
		assert_near(student_two_sided(rows[i].want, rows[i].df), rows[i].alpha,
			    1e-5);
	}
	assert_near(student_two_sided(0, 5), 1, 1e-12);
	assert_true(student_two_sided(INFINITY, 5) == 0);
}

static void derivatives_of_log_gamma_are_right(void **state)
{
	(void)state;
	assert_near(gamma_log_slope(1), -0.5772156649, 1e-8);
	assert_near(gamma_log_slope(0.5), -1.9635100260, 1e-8);
	assert_near(gamma_log_curve(1), 1.6449340668, 1e-8);
	assert_near(gamma_log_curve(20), 0.0512708229, 1e-9);
	assert_near(gamma_log_curve_inverse(gamma_log_curve(3.25)), 3.25, 1e-6);
}

/* Wilson's interval of 10 of 100 samples is 5.52 % .. 17.44 %. */
static void limits_of_a_share_are_wilsons(void **state)
{
	const struct side_estimate e = { .value = 0.1, .linear = 0.01 };
	const struct limits l = estimate_limits(&e, 1.959964);

	(void)state;
	assert_near(l.low, 0.05522914, 1e-6);
	assert_near(l.high, 0.17436566, 1e-6);
}

static void a_side_without_samples_has_limits(void **state)
{
	const struct side_estimate none = { .linear = 0.001 };
	const struct side_estimate all = { .value = 1, .linear = 0.001 };
	const double c = 1.959964;

	(void)state;
	assert_near(estimate_limits(&none, c).low, 0, 0);
	/* z * z / (n + z * z) */
	assert_near(estimate_limits(&none, c).high, c * c / (1000 + c * c), 1e-9);
	assert_near(estimate_limits(&all, c).low, 1 - c * c / (1000 + c * c), 1e-9);
	assert_near(estimate_limits(&all, c).high, 1, 0);
}

/* Newcombe (1998), table II: 56 of 70 and 48 of 80. */
static void limits_of_a_difference_are_newcombes(void **state)
{
	const struct side_estimate a = { .value = 48.0 / 80, .linear = 1.0 / 80 };
	const struct side_estimate b = { .value = 56.0 / 70, .linear = 1.0 / 70 };
	const struct limits l = difference_limits(&a, &b, 1.959964);

	(void)state;
	assert_near(l.low, 0.0524, 1e-4);
	assert_near(l.high, 0.3339, 1e-4);
}

static void the_score_is_where_the_interval_ends(void **state)
{
	const struct side_estimate a = { .value = 0.10, .linear = 1e-4 };
	const struct side_estimate b = { .value = 0.12,
					 .linear = 1e-4,
					 .square = 1e-4 };
	const double margins[] = { 0, 0.005 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(margins); i++) {
		const double score = difference_score(&a, &b, margins[i]);

		assert_near(difference_limits(&a, &b, score).low, margins[i], 1e-6);
		assert_near(difference_score(&b, &a, margins[i]), score, 1e-6);
	}
	assert_true(difference_score(&a, &b, 0.02) == 0);
	assert_true(difference_score(&a, &a, 0) == 0);
}

/* Rates have no upper bound. */
static void limits_of_a_rate_are_found(void **state)
{
	const struct side_estimate e = { .value = 4, .linear = 1, .is_rate = true };
	const struct limits l = estimate_limits(&e, 2);

	(void)state;
	/* (4 - p)^2 = 4 p */
	assert_near(l.low, 6 - sqrt(20), 1e-6);
	assert_near(l.high, 6 + sqrt(20), 1e-6);
}

/* Benjamini and Hochberg: the k-th smallest of n values counts n/k times. */
static void discoveries_are_those_of_benjamini_and_hochberg(void **state)
{
	double p[] = { 0.04, 0.001, NAN, 0.02, 0.9, 0.021 };
	const double want[] = { 0.05, 0.005, NAN, 0.035, 0.9, 0.035 };

	(void)state;
	assert_int_equal(discovery_adjust(p, COUNT_OF(p)), 0);
	for (size_t i = 0; i < COUNT_OF(p); i++)
		assert_true((isnan(p[i]) && isnan(want[i])) ||
			    fabs(p[i] - want[i]) < 1e-12);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(quantiles_are_those_of_the_tables),
		cmocka_unit_test(derivatives_of_log_gamma_are_right),
		cmocka_unit_test(limits_of_a_share_are_wilsons),
		cmocka_unit_test(a_side_without_samples_has_limits),
		cmocka_unit_test(limits_of_a_difference_are_newcombes),
		cmocka_unit_test(the_score_is_where_the_interval_ends),
		cmocka_unit_test(limits_of_a_rate_are_found),
		cmocka_unit_test(discoveries_are_those_of_benjamini_and_hochberg),
	};

	return UNIT_RUN(cases);
}
