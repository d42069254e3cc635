/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The intervals of shares in one recording contain the true share as often as they promise, for
 * simulated runs (simulate.h). */
#include "compare/shares.h"

#include <math.h>

#include "base/array.h"
#include "compare/comparison.h"
#include "compare/student.h"
#include "simulate.h"
#include "unit.h"

enum {
	NR_RUNS = 420 /* 10 080 intervals */
};

/* Parts per thousand: from 0.1 % to 50 %. */
static const double weights[SIMULATED_ROWS] = {
	500, 120, 80, 60, 40, 40, 30, 25, 20, 15, 12, 10,
	8,   7,   6,  5,  5,  4,  4,  3,  2,  2,  1,  1,
};

static void run_clear(struct compare_run *run)
{
	vec_done(&run->blocks);
	vec_done(&run->cells);
	*run = (struct compare_run){ 0 };
}

/* Returns the percentage of intervals that contain the long-term share of their run, for rows from
 * `first` up to `end`. */
static double coverage(struct simulation *s, double confidence, size_t first,
		       size_t end)
{
	size_t hits = 0;

	for (size_t i = 0; i < NR_RUNS; i++) {
		struct compare_run run = { 0 };
		struct run_sums sums;
		struct count_sums of_rows[SIMULATED_ROWS];
		struct limits limits[SIMULATED_ROWS];
		double shares[SIMULATED_ROWS];

		s->cells = &run;
		simulate_shares(s, SIDE_BASE, shares);
		simulate_run(s, SIDE_BASE, shares, &sums, of_rows, 1);
		assert_int_equal(
			shares_limits(&run, SIMULATED_ROWS, confidence, limits), 0);
		for (size_t r = first; r < end; r++)
			hits += limits[r].low <= shares[r] &&
				shares[r] <= limits[r].high;
		run_clear(&run);
	}
	return 100.0 * (double)hits / (double)(NR_RUNS * (end - first));
}

static const struct simulated_program {
	const char *name;
	double within_run;
} programs[] = {
	{ "independent samples", 0 },
	{ "bursts", 0.5 },
	{ "long bursts", 0.8 },
};

static struct simulation simulation_of(const struct simulated_program *program)
{
	return (struct simulation){
		.seed = 88172645463325252ULL,
		.samples = 10000,
		.nr_blocks = 100,
		.between_runs = 0.05,
		.within_run = program->within_run,
		.weights = { weights, weights },
	};
}

static void intervals_contain_the_share(void **state)
{
	static const double levels[] = { 0.9, 0.95, 0.99 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		for (size_t l = 0; l < COUNT_OF(levels); l++) {
			struct simulation s = simulation_of(&programs[i]);
			double percent = coverage(&s, levels[l], 0, SIMULATED_ROWS);

			print_message("# %s, %g %%: %.2f %%\n", programs[i].name,
				      100 * levels[l], percent);
			assert_true(fabs(percent - 100 * levels[l]) <= 1);
		}
	}
}

/* Rows of each size, too: a class has fewer intervals. */
static void intervals_fit_rows_of_each_size(void **state)
{
	static const size_t ends[] = { 0, 4, 10, 16, SIMULATED_ROWS };

	(void)state;
	for (size_t i = 0; i + 1 < COUNT_OF(ends); i++) {
		struct simulation s = simulation_of(&programs[1]);
		double percent = coverage(&s, 0.95, ends[i], ends[i + 1]);

		print_message("# rows %zu to %zu: %.2f %%\n", ends[i], ends[i + 1] - 1,
			      percent);
		assert_true(percent >= 92 && percent <= 98);
	}
}

/* Without blocks, samples count as independent: E. Wilson's formula, with a quantile of Student's
 * t with the weight of the pooled design effect. */
static void a_single_block_has_wilsons_limits(void **state)
{
	const double n = 100, p = 0.2, z = student_critical(0.05, 16);
	const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	const double half =
		z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
	struct compare_run run = { 0 };
	struct limits limits[3];

	(void)state;
	assert_true(vec_push(&run.blocks, n));
	assert_true(vec_push(&run.cells, (struct run_cell){ 0, 0, 20 }));
	assert_true(vec_push(&run.cells, (struct run_cell){ 1, 0, 80 }));
	assert_int_equal(shares_limits(&run, 3, 0.95, limits), 0);
	assert_true(fabs(limits[0].low - (middle - half)) < 1e-6);
	assert_true(fabs(limits[0].high - (middle + half)) < 1e-6);
	/* A row without samples also has limits. */
	assert_true(limits[2].low <= 0 && limits[2].high > 0.01 &&
		    limits[2].high < 0.06);
	run_clear(&run);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(intervals_contain_the_share),
		cmocka_unit_test(intervals_fit_rows_of_each_size),
		cmocka_unit_test(a_single_block_has_wilsons_limits),
	};

	return UNIT_RUN(cases);
}
