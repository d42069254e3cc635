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
	struct count_sums
		*rows; /* all runs of row 0, then all runs of row 1, and so on */
	struct count_sums *totals; /* of all rows, by run */
	uint32_t **row_of;         /* by run: the row of each item */
	size_t nr_runs;
	size_t nr_rows;
};

/* Adds the rows to c->rows, with images and names only. Fills *ret_sums. Call row_sums_done() in
 * any case. Returns 0 or -ENOMEM. */
int rows_make(struct comparison *c, struct row_sums *ret_sums);
/* Adds up the rows of each group of c->moves in `to`, which the caller has zeroed: all runs of
 * group 0, then all runs of group 1, and so on. One more group at the end has the rows without a
 * group. Returns 0 or -ENOMEM. */
int rows_sum_groups(const struct comparison *c, const struct row_sums *sums,
		    struct count_sums *to);
/* Returns the sums over the denominators of a run's blocks. */
struct run_sums rows_sum_run(const struct compare_run *run);
/* Adds the cells of a run to sums[row * stride]. `row_of` maps items to rows; if it is NULL, items
 * are rows. Returns 0 or -ENOMEM. */
int rows_sum_cells(const struct compare_run *run, const uint32_t *row_of,
		   struct count_sums *sums, size_t stride);
void row_sums_done(struct row_sums *s);
