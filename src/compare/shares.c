/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/shares.h"

#include <errno.h>
#include <stdlib.h>

#include "compare/comparison.h"
#include "compare/rows.h"
#include "compare/student.h"

int shares_limits(const struct compare_run *run, size_t nr_rows, double confidence,
		  struct limits *ret_limits)
{
	const struct run_sums whole = rows_sum_run(run);
	struct count_sums *sums = calloc(nr_rows + 1, sizeof(*sums));
	struct row_variation *rows = calloc(nr_rows + 1, sizeof(*rows));
	const struct variation_input in = { &whole, 1, sums, nr_rows, false };
	struct usual_variation usual;
	int r = sums && rows ? rows_sum_cells(run, NULL, sums, 1) : -ENOMEM;

	if (!r)
		r = variation_estimate(&in, rows, &usual);
	for (size_t i = 0; !r && i < nr_rows; i++)
		ret_limits[i] =
			estimate_limits(&rows[i].sides[run->side],
					student_critical(1 - confidence, rows[i].df));
	free(sums);
	free(rows);
	return r;
}
