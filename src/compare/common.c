/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/common.h"

#include <math.h>
#include <stdlib.h>

/* Maximum weight of a row, as a share of the samples. */
static const double common_weight = 0.05;

static int compare_ratios(const void *a, const void *b)
{
	const struct row_ratio *one = a, *other = b;

	return (one->ratio > other->ratio) - (one->ratio < other->ratio);
}

static double row_weight(const struct row_ratio *row)
{
	return fmin(row->share, common_weight);
}

double common_factor(struct row_ratio *ratios, size_t nr)
{
	double all = 0, below = 0;
	size_t i = 0;

	if (nr < COMMON_ROWS)
		return 1;
	qsort(ratios, nr, sizeof(*ratios), compare_ratios);
	for (size_t j = 0; j < nr; j++)
		all += row_weight(&ratios[j]);
	while (i + 1 < nr && below + row_weight(&ratios[i]) < all / 2)
		below += row_weight(&ratios[i++]);
	return ratios[i].ratio;
}
