/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variation.h - estimates how much the counts of rows vary, within runs and between runs.
 * Layer: compare.  docs/diff.md explains the method.
 * Within a run, samples are correlated, so the run is divided into blocks of time, and the
 * variance of a ratio is estimated from its residuals in the blocks and their correlation with
 * those of the next block. The design effect is this variance divided by that of independent
 * samples.
 * Between runs, only few values of a row are known, so its variance is uncertain. It is combined
 * with the usual variance of rows of that size. The more similar the variances of rows are, the
 * more weight the usual variance has. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "compare/interval.h"

enum compare_side {
	SIDE_BASE,
	SIDE_NEW,
	COMPARE_SIDES
};

/* Sums over the blocks of a run. n is the denominator of a block: all samples, seconds, or units
 * of work. */
struct run_sums {
	enum compare_side side;
	double total;
	double squares;   /* sum of n * n */
	double neighbors; /* sum of n * (n of the next block) */
	double nr_blocks;
};

/* Sums over the blocks of a run for one row. x is the row's count in a block. */
struct count_sums {
	double count;
	double squares;   /* of x * x */
	double products;  /* of x * n */
	double neighbors; /* of x * (x of the next block) */
	double crossed;   /* of x * (n of the previous and of the next block) */
};

struct variation_input {
	const struct run_sums *runs;
	size_t nr_runs; /* of one or two sides */
	const struct count_sums
		*sums; /* all runs of row 0, then all runs of row 1, and so on */
	size_t nr_rows;
	bool is_rate; /* n is a time or a number of work units, not a number of samples that
		       * includes x */
};

struct row_variation {
	double design; /* design effect of blocks */
	double scale; /* its estimated variance between runs, divided by the usual one */
	double df;    /* degrees of freedom of the estimates' variance */
	struct side_estimate sides[COMPARE_SIDES];
};

/* The usual variation, found from all rows. */
struct usual_variation {
	bool between;    /* some side has several runs, so runs can be compared */
	double sampling; /* factor of the variance within runs */
	double runs;     /* relative variance between runs, beyond sampling */
	/* The sampling variance between runs is proportional to the design effect to this power.
	 * Below 1 if all runs have the same phases: these increase the variance within a run, but
	 * not between runs. */
	double effect;
	double df; /* weight of the usual variance; 0: use only the variance of the row */
};

/* Estimates the variation of all rows, and the usual variation. Returns 0 or -ENOMEM. */
int variation_estimate(const struct variation_input *in, struct row_variation *ret_rows,
		       struct usual_variation *ret_usual);
/* Like variation_estimate(), but uses the given usual variation, which comes from other rows of the
 * same runs. */
int variation_estimate_like(const struct variation_input *in,
			    struct row_variation *ret_rows,
			    const struct usual_variation *usual);
