/* SPDX-License-Identifier: GPL-2.0-or-later */
/* change_points.h - finds the points at which the mean of a series changes.
 * Layer: compare.  docs/diff.md explains the method.
 * E-divisive (D. Matteson and N. James, 2014) proposes points: it divides a series where the energy
 * distance of both sides is largest, and then each side again. A t-test of the segments next to a
 * point accepts or rejects it. E-divisive uses random permutations instead; the t-test gives equal
 * results for equal input. */
#pragma once
#include <stddef.h>

#include "base/containers/vec.h"

struct series {
	const double *values;
	/* Each value divided by the common factor of its run (common.h). If this is not NULL, a
	 * change counts only if `values` and `relative` both change, in the same direction. */
	const double *relative;
	/* The variance of values[i] due to sampling, divided by the mean. The tests never assume a
	 * smaller variance. */
	const double *noise;
	size_t nr;
};

struct change_point {
	size_t at;     /* index of the first value after the change */
	double before; /* mean of the values since the previous point */
	double after;  /* mean of the values up to the next point */
	double p;      /* p value, corrected for the length of the series */
};

struct change_points {
	VEC(struct change_point) points; /* in order */
	double least_p; /* smallest p value of a dropped point; 1: none was dropped */
};

/* Finds the points with p <= limit at which the mean changes by more than `margin`. A segment
 * has at least 2 values, plus one per 50 values of the series; only the last one can be shorter.
 * Returns 0 or -ENOMEM; call change_points_done() in any case. */
int change_points_find(const struct series *s, double margin, double limit,
		       struct change_points *ret);
/* Drops the least significant point and recalculates the others, until all have p <= limit. */
void change_points_prune(const struct series *s, double margin, double limit,
			 struct change_points *points);
void change_points_done(struct change_points *points);
