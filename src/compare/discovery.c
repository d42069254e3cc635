/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/discovery.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int compare_p_values(const void *a, const void *b)
{
	const double one = **(double *const *)a, other = **(double *const *)b;

	return (one > other) - (one < other);
}

int discovery_adjust(double *p, size_t nr)
{
	double **order = calloc(nr + 1, sizeof(*order));
	size_t nr_tested = 0;
	double least = 1;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!isnan(p[i]))
			order[nr_tested++] = &p[i];
	}
	qsort(order, nr_tested, sizeof(*order), compare_p_values);
	for (size_t i = nr_tested; i-- > 0;) {
		least = fmin(least, *order[i] * (double)nr_tested / (double)(i + 1));
		*order[i] = least;
	}
	free(order);
	return 0;
}
