/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.h - makes the rows of a comparison from the cells of its runs.
 * Layer: compare; part of comparison.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "compare/variation.h"

struct compare_run;
struct comparison;

/* The sums of all rows in all runs, and of the total. */
struct row_sums {
	struct run_sums *runs;
	struct count_sums *rows;   /* the runs of row 0, then those of row 1 ... */
	struct count_sums *totals; /* of all rows, by run */
	uint32_t **row_of;         /* by run: the row of each item */
	size_t nr_runs;
	size_t nr_rows;
};

/* Fills c->rows with the images and names, and *ret_sums.  Call row_sums_done() in any case.
 * Returns 0 or -ENOMEM. */
int rows_make(struct comparison *c, struct row_sums *ret_sums);
/* Adds up the rows of each group of c->moves: the runs of group 0, then those of group 1 ...  The
 * memory of `to` is zeroed.  Returns 0 or -ENOMEM. */
int rows_sum_groups(const struct comparison *c, const struct row_sums *sums,
		    struct count_sums *to);
/* Returns the sums of a run's blocks. */
struct run_sums rows_sum_run(const struct compare_run *run);
/* Adds up the cells of a run.  `row_of` is the row of each item; NULL: items are rows.  `sums` is
 * that of row 0, the next row is `stride` further.  Returns 0 or -ENOMEM. */
int rows_sum_cells(const struct compare_run *run, const uint32_t *row_of,
		   struct count_sums *sums, size_t stride);
void row_sums_done(struct row_sums *s);
