/* SPDX-License-Identifier: GPL-2.0-or-later */
/* simulate.h - makes runs of a program whose true shares are known, for tests of intervals.
 * Rows differ from run to run (gamma distributed), and within a run from block to block, where
 * the intensity of a row persists for part of a block.  Seeds are fixed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "compare/variation.h"

enum {
	SIMULATED_ROWS = 24
};

struct compare_run;

struct simulation {
	uint64_t seed;
	double samples;      /* per run, on average */
	size_t nr_blocks;    /* per run */
	double between_runs; /* relative standard deviation of a row */
	double within_run; /* relative standard deviation of the intensities of a row in parts of
			      * blocks */
	const double
		*weights[COMPARE_SIDES]; /* SIMULATED_ROWS each; need no sum of 1 */
	struct compare_run *cells; /* gets the blocks and cells of a run; or NULL */
};

/* Makes the shares that the rows of a run have in the long term. */
void simulate_shares(struct simulation *s, enum compare_side side,
		     double ret_shares[SIMULATED_ROWS]);
/* Makes the sums of a run with these shares; `sums` are those of row 0 in this run, and the next
 * row follows after `stride` elements. */
void simulate_run(struct simulation *s, enum compare_side side,
		  const double shares[SIMULATED_ROWS], struct run_sums *ret_run,
		  struct count_sums *sums, size_t stride);
