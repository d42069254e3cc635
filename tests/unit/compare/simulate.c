/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "simulate.h"

#include <math.h>
#include <string.h>

#include "compare/comparison.h"
#include "unit.h"

enum {
	PARTS = 2 /* of a block */
};

/* How much of the previous part's intensity persists. */
static const double persistence = 0.3;

/* xorshift64* */
static double simulate_uniform(struct simulation *s)
{
	s->seed ^= s->seed >> 12;
	s->seed ^= s->seed << 25;
	s->seed ^= s->seed >> 27;
	return ((double)((s->seed * 0x2545f4914f6cdd1dULL) >> 11) + 0.5) / 0x1p53;
}

static double simulate_normal(struct simulation *s)
{
	return sqrt(-2 * log(simulate_uniform(s))) *
	       cos(2 * M_PI * simulate_uniform(s));
}

/* Returns a gamma variate with the mean 1 and this relative standard deviation (Marsaglia and
 * Tsang). */
static double simulate_gamma(struct simulation *s, double deviation)
{
	double shape, d, c;

	if (deviation <= 0)
		return 1;
	shape = 1 / (deviation * deviation);
	if (shape < 1)
		return simulate_gamma(s, 1 / sqrt(shape + 1)) * (shape + 1) / shape *
		       pow(simulate_uniform(s), 1 / shape);
	d = shape - 1.0 / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		const double x = simulate_normal(s), v = pow(1 + c * x, 3);

		if (v > 0 &&
		    log(simulate_uniform(s)) < x * x / 2 + d - d * v + d * log(v))
			return d * v / shape;
	}
}

static double simulate_poisson(struct simulation *s, double mean)
{
	double count = 0, left = exp(-mean);

	if (mean > 30)
		return fmax(0, round(mean + sqrt(mean) * simulate_normal(s)));
	for (double p = simulate_uniform(s); p > left; p *= simulate_uniform(s))
		count++;
	return count;
}

void simulate_shares(struct simulation *s, enum compare_side side,
		     double ret_shares[SIMULATED_ROWS])
{
	double sum = 0;

	for (size_t i = 0; i < SIMULATED_ROWS; i++) {
		ret_shares[i] =
			s->weights[side][i] * simulate_gamma(s, s->between_runs);
		sum += ret_shares[i];
	}
	for (size_t i = 0; i < SIMULATED_ROWS; i++)
		ret_shares[i] /= sum;
}

static void simulate_add_block(struct simulation *s,
			       const double counts[SIMULATED_ROWS], double total)
{
	const uint32_t block = (uint32_t)s->cells->blocks.nr;

	assert_true(vec_push(&s->cells->blocks, total));
	for (uint32_t i = 0; i < SIMULATED_ROWS; i++) {
		const struct run_cell cell = { i, block, counts[i] };

		if (counts[i] > 0)
			assert_true(vec_push(&s->cells->cells, cell));
	}
}

void simulate_run(struct simulation *s, enum compare_side side,
		  const double shares[SIMULATED_ROWS], struct run_sums *ret_run,
		  struct count_sums *sums, size_t stride)
{
	const double part = s->samples / (double)s->nr_blocks / PARTS;
	double last[SIMULATED_ROWS], before[SIMULATED_ROWS] = { 0 }, total_before = 0;
	struct run_sums run = { .side = side, .nr_blocks = (double)s->nr_blocks };

	for (size_t i = 0; i < SIMULATED_ROWS; i++) {
		sums[i * stride] = (struct count_sums){ 0 };
		last[i] = simulate_gamma(s, s->within_run);
	}
	for (size_t b = 0; b < s->nr_blocks; b++) {
		double counts[SIMULATED_ROWS] = { 0 }, total = 0;

		for (size_t p = 0; p < PARTS; p++) {
			for (size_t i = 0; i < SIMULATED_ROWS; i++) {
				last[i] = persistence * last[i] +
					  (1 - persistence) *
						  simulate_gamma(s, s->within_run);
				counts[i] +=
					simulate_poisson(s, part * shares[i] * last[i]);
			}
		}
		for (size_t i = 0; i < SIMULATED_ROWS; i++)
			total += counts[i];
		for (size_t i = 0; i < SIMULATED_ROWS; i++) {
			struct count_sums *sum = &sums[i * stride];

			sum->count += counts[i];
			sum->squares += counts[i] * counts[i];
			sum->products += counts[i] * total;
			sum->neighbors += counts[i] * before[i];
			sum->crossed += counts[i] * total_before + before[i] * total;
			before[i] = counts[i];
		}
		if (s->cells)
			simulate_add_block(s, counts, total);
		run.total += total;
		run.squares += total * total;
		run.neighbors += total * total_before;
		total_before = total;
	}
	*ret_run = run;
}
