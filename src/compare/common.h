/* SPDX-License-Identifier: GPL-2.0-or-later */
/* common.h - estimates the factor by which the shares of unchanged rows differ between two sides.
 * Layer: compare.
 * Shares have a sum of 100 %. If one function becomes slower, the shares of all functions that
 * did not change decrease by the same factor. */
#pragma once
#include <stddef.h>

enum {
	COMMON_ROWS = 6,  /* minimum number of large rows for an estimate */
	COMMON_COUNT = 50 /* minimum number of samples of a large row */
};

/* A row with at least COMMON_COUNT samples. */
struct row_ratio {
	double ratio; /* its share on one side, divided by that on the other */
	double share; /* its weight in the median, which is limited */
};

/* Returns the weighted median of the ratios, which estimates the factor of the unchanged rows.
 * Returns 1 if there are fewer than COMMON_ROWS rows. Sorts `ratios`. */
double common_factor(struct row_ratio *ratios, size_t nr);
