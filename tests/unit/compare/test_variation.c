/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals contain the true value as often as they promise, and rows that did not change are
 * rarely called changed: for simulated runs (simulate.h). */
#include "compare/variation.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "compare/discovery.h"
#include "compare/interval.h"
#include "compare/student.h"
#include "simulate.h"
#include "unit.h"

enum {
	RUNS_MAX = 5,
	CLASSES = 5, /* of shares */
	TRUTH_RUNS = 20000
};

/* Parts per thousand: from 0.1 % to 50 %. */
static const double base_weights[SIMULATED_ROWS] = {
	500, 120, 80, 60, 40, 40, 30, 25, 20, 15, 12, 10,
	8,   7,   6,  5,  5,  4,  4,  3,  2,  2,  1,  1,
};
/* The same weights, except for some rows. */
static const double new_weights[SIMULATED_ROWS] = {
	500, 120, 80, 75, 40, 40, 30, 25, 20, 15, 12, 10,
	8,   5,   6,  5,  5,  4,  4,  3,  2,  3,  1,  1,
};
enum {
	SLOWER_ROW = 3
};
static const double class_ends[CLASSES] = { 0.003, 0.006, 0.012, 0.05, 1 };

static size_t class_of(double share)
{
	size_t c = 0;

	while (share > class_ends[c])
		c++;
	return c;
}

struct simulated_case {
	const char *name;
	size_t nr_runs; /* on each side */
	size_t nr_comparisons;
	double samples;
	double between, within;
};

static struct simulation simulation_of(const struct simulated_case *t)
{
	return (struct simulation){
		.seed = 88172645463325252ULL + t->nr_runs,
		.samples = t->samples,
		.nr_blocks = 100,
		.between_runs = t->between,
		.within_run = t->within,
		.weights = { base_weights, new_weights },
	};
}

/* The result of one comparison. */
struct compared {
	struct run_sums runs[2 * RUNS_MAX];
	struct count_sums sums[SIMULATED_ROWS * 2 * RUNS_MAX];
	struct row_variation rows[SIMULATED_ROWS];
	struct usual_variation usual;
	double change[SIMULATED_ROWS]; /* true difference of these runs */
};

static void compare_once(struct simulation *s, size_t nr_runs, struct compared *c)
{
	const size_t nr = 2 * nr_runs;
	struct variation_input in = { c->runs, nr, c->sums, SIMULATED_ROWS, false };

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < nr; i++) {
		enum compare_side side = i < nr_runs ? SIDE_BASE : SIDE_NEW;
		double shares[SIMULATED_ROWS];

		simulate_shares(s, side, shares);
		simulate_run(s, side, shares, &c->runs[i], &c->sums[i], nr);
		for (size_t r = 0; r < SIMULATED_ROWS; r++)
			c->change[r] += side == SIDE_NEW ? shares[r] : -shares[r];
	}
	assert_int_equal(variation_estimate(&in, c->rows, &c->usual), 0);
}

/* The mean difference of the shares over very many runs. */
static void find_truth(struct simulation *s, double truth[SIMULATED_ROWS])
{
	memset(truth, 0, SIMULATED_ROWS * sizeof(*truth));
	for (int i = 0; i < TRUTH_RUNS; i++) {
		double before[SIMULATED_ROWS], after[SIMULATED_ROWS];

		simulate_shares(s, SIDE_BASE, before);
		simulate_shares(s, SIDE_NEW, after);
		for (size_t r = 0; r < SIMULATED_ROWS; r++)
			truth[r] += (after[r] - before[r]) / TRUTH_RUNS;
	}
}

struct hits {
	size_t hits, nr;
};

static double hits_percent(const struct hits *h)
{
	return 100.0 * (double)h->hits / (double)h->nr;
}

static void count_hits(const struct compared *c, const double *truth,
		       struct hits classes[CLASSES + 1])
{
	for (size_t r = 0; r < SIMULATED_ROWS; r++) {
		const struct row_variation *v = &c->rows[r];
		struct limits l =
			difference_limits(&v->sides[SIDE_BASE], &v->sides[SIDE_NEW],
					  student_critical(0.05, v->df));
		const bool hit = l.low <= truth[r] && truth[r] <= l.high;
		const size_t class = class_of(base_weights[r] / 1000);

		classes[class].hits += hit;
		classes[class].nr++;
		classes[CLASSES].hits += hit;
		classes[CLASSES].nr++;
	}
}

/* Checks the share of intervals that contain the truth: all together must be exact to 1 %, those
 * of a class of shares to 3 %: a class has fewer of them. */
static void check_coverage(const struct simulated_case *t)
{
	struct simulation s = simulation_of(t);
	struct hits classes[CLASSES + 1] = { 0 };
	double truth[SIMULATED_ROWS];
	struct compared c;

	find_truth(&s, truth);
	for (size_t i = 0; i < t->nr_comparisons; i++) {
		compare_once(&s, t->nr_runs, &c);
		/* A single run does not show how runs differ, so its interval is for the change of
		 * these runs. */
		count_hits(&c, t->nr_runs > 1 ? truth : c.change, classes);
	}
	for (size_t i = 0; i <= CLASSES; i++) {
		const double percent = hits_percent(&classes[i]);
		const double least = i < CLASSES ? 92 : 94;
		const double most = i < CLASSES ? 98 : 96;

		print_message("# %s, class %zu: %.2f %% of %zu intervals\n", t->name, i,
			      percent, classes[i].nr);
		assert_true(percent >= least && percent <= most);
	}
}

static void check_coverage_of(const struct simulated_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_coverage(&cases[i]);
}

/* Tests 10 080 intervals of each case. */
static void intervals_contain_the_truth(void **state)
{
	static const struct simulated_case cases[] = {
		{ "1 run", 1, 420, 10000, 0.05, 0.5 },
		{ "3 runs", 3, 420, 10000, 0.05, 0.5 },
		{ "5 runs", 5, 420, 10000, 0.05, 0.5 },
	};

	(void)state;
	check_coverage_of(cases, COUNT_OF(cases));
}

static void intervals_fit_other_programs(void **state)
{
	static const struct simulated_case cases[] = {
		{ "1 run, independent samples", 1, 100, 10000, 0.05, 0 },
		{ "3 runs that differ only by sampling", 3, 100, 10000, 0, 0 },
		{ "5 runs that differ much", 5, 100, 10000, 0.2, 0.8 },
	};

	(void)state;
	check_coverage_of(cases, COUNT_OF(cases));
}

/* Counts the rows that are called changed. */
static size_t count_changed(const struct compared *c, bool *ret_slower)
{
	double q[SIMULATED_ROWS];
	size_t nr = 0;

	for (size_t r = 0; r < SIMULATED_ROWS; r++) {
		const struct row_variation *v = &c->rows[r];

		q[r] = student_two_sided(
			difference_score(&v->sides[SIDE_BASE], &v->sides[SIDE_NEW], 0),
			v->df);
	}
	assert_int_equal(discovery_adjust(q, SIMULATED_ROWS), 0);
	for (size_t r = 0; r < SIMULATED_ROWS; r++)
		nr += q[r] <= 0.05;
	*ret_slower = q[SLOWER_ROW] <= 0.05;
	return nr;
}

/* Comparisons without any change: at most 5 % of the rows are false.  About 5 % of the comparisons
 * have some; 200 of them show that to 3 %. */
static void unchanged_rows_are_noise(void **state)
{
	static const struct simulated_case cases[] = {
		{ "1 run", 1, 200, 10000, 0, 0.5 },
		{ "3 runs", 3, 200, 10000, 0.05, 0.5 },
		{ "5 runs", 5, 200, 10000, 0.05, 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct simulation s = simulation_of(&cases[i]);
		size_t with_some = 0, changed = 0;
		struct compared c;
		bool slower;

		s.weights[SIDE_NEW] = base_weights;
		for (size_t j = 0; j < cases[i].nr_comparisons; j++) {
			compare_once(&s, cases[i].nr_runs, &c);
			const size_t nr = count_changed(&c, &slower);

			changed += nr;
			with_some += nr > 0;
		}
		print_message("# %s: %zu false rows, in %zu of %zu comparisons\n",
			      cases[i].name, changed, with_some,
			      cases[i].nr_comparisons);
		assert_true(with_some * 100 <= 8 * cases[i].nr_comparisons);
		assert_true(changed * 20 <= cases[i].nr_comparisons * SIMULATED_ROWS);
	}
}

/* A function that needs a quarter more is found in five runs that differ by 3 %. */
static void a_slower_row_is_found(void **state)
{
	static const struct simulated_case t = { "5 runs", 5, 100, 10000, 0.03, 0.5 };
	struct simulation s = simulation_of(&t);
	struct compared c;
	size_t found = 0;

	(void)state;
	for (size_t i = 0; i < t.nr_comparisons; i++) {
		bool slower;

		compare_once(&s, t.nr_runs, &c);
		(void)count_changed(&c, &slower);
		found += slower;
	}
	print_message("# found in %zu of %zu comparisons\n", found, t.nr_comparisons);
	assert_true(found >= 95);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(intervals_contain_the_truth),
		cmocka_unit_test(intervals_fit_other_programs),
		cmocka_unit_test(unchanged_rows_are_noise),
		cmocka_unit_test(a_slower_row_is_found),
	};

	return UNIT_RUN(cases);
}
