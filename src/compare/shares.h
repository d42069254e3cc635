/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shares.h - confidence limits of the shares of rows in one recording.
 * Layer: compare.  Pure function.
 * The recording is a run with one side (comparison.h), so limits and variances are those of a
 * comparison. */
#pragma once
#include <stddef.h>

#include "compare/interval.h"

struct compare_run;

/* Sets the limits of rows 0 to nr_rows - 1, as parts of 1.  Of the run, only `blocks` and `cells`
 * are used; the items of cells are the rows.  `confidence` is below 1.  Returns 0 or -ENOMEM. */
int shares_limits(const struct compare_run *run, size_t nr_rows, double confidence,
		  struct limits *ret_limits);
