/* SPDX-License-Identifier: GPL-2.0-or-later */
/* common.h - the factor by which the shares of unchanged rows differ.
 * Layer: compare.
 * Shares have a sum of 100 %, so if a function becomes slower, the shares of all others decrease by
 * the same factor. */
#pragma once
#include <stddef.h>

enum {
	COMMON_ROWS = 6,  /* fewer large rows do not show a common factor */
	COMMON_COUNT = 50 /* samples of a large row */
};

/* A large row. */
struct row_ratio {
	double ratio; /* of its shares */
	double share; /* its weight, up to a limit */
};

/* Returns the factor that most rows have in common: the weighted median of their ratios, or 1 if
 * there are too few.  Sorts `ratios`. */
double common_factor(struct row_ratio *ratios, size_t nr);
