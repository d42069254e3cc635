/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shares.h - confidence limits of the shares of rows in one recording.
 * Layer: compare.  Pure function.
 * The recording is treated as one run of a comparison (comparison.h), so the limits are computed
 * as those of a side. */
#pragma once
#include <stddef.h>

#include "compare/interval.h"

struct compare_run;

/* Sets the limits of rows 0 to nr_rows - 1, as fractions of 1. Uses only the `side`, `blocks` and
 * `cells` of the run; the items of cells are the rows. `confidence` is below 1. Returns 0 or
 * -ENOMEM. */
int shares_limits(const struct compare_run *run, size_t nr_rows, double confidence,
		  struct limits *ret_limits);
