/* SPDX-License-Identifier: GPL-2.0-or-later */
/* variation.h - estimates how much the counts of rows vary, within runs and between runs.
 * Layer: compare.  docs/diff.md explains the method.
 * Within a run, samples are correlated, so the run is divided into blocks of time, and the
 * variance of a ratio is estimated from its residuals in the blocks and their correlation with
 * those of the next block.  Its quotient to the variance of independent samples is the design
 * effect.  Between runs, the variance of a row is
 * known from few values only.  So it is moderated: it is combined with the variance that is
 * usual for rows of that size, weighted by how closely the rows agree on what is usual. */
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
	size_t nr_runs;                /* each side needs one */
	const struct count_sums *sums; /* the runs of row 0, then those of row 1 ... */
	size_t nr_rows;
	bool is_rate; /* n is a time or a number of work units, not a number of samples that
		       * includes x */
};

struct row_variation {
	double design; /* design effect of blocks */
	double scale;  /* the row's variance between runs, divided by the usual one */
	double df;     /* degrees of freedom of the estimates' variance */
	struct side_estimate sides[COMPARE_SIDES];
};

/* The usual variation, found from all rows. */
struct usual_variation {
	bool between;    /* some side has several runs, so the fields below are known */
	double sampling; /* factor of the variance within runs */
	double runs;     /* relative variance between runs, beyond sampling */
	/* Exponent of the design effects of rows in their variance of sampling.  Below 1 if rows vary
	 * within each run in the same manner, as in the phases of a program: then runs differ less. */
	double effect;
	double df; /* weight of the usual variance; 0: each row has its own */
};

/* Sets the estimates of all rows.  Returns 0 or -ENOMEM. */
int variation_estimate(const struct variation_input *in, struct row_variation *ret_rows,
		       struct usual_variation *ret_usual);
/* Like variation_estimate(), for other rows of the same runs, with a usual variation that
 * variation_estimate() returned. */
int variation_estimate_like(const struct variation_input *in,
			    struct row_variation *ret_rows,
			    const struct usual_variation *usual);
