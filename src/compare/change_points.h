/* SPDX-License-Identifier: GPL-2.0-or-later */
/* change_points.h - finds the points at which the mean of a series changes.
 * Layer: compare.  docs/diff.md explains the method.
 * E-divisive (D. Matteson and N. James, 2014) proposes points: it divides a series where the energy
 * distance of both sides is largest, and then each side again.  A t-test of the segments next to a
 * point decides, instead of permutations, so equal input gives equal results. */
#pragma once
#include <stddef.h>

#include "base/containers/vec.h"

struct series {
	const double *values;
	/* The values, each divided by the factor that most rows of its run have in common.  A
	 * change counts only if both series change.  NULL: only `values` is tested. */
	const double *relative;
	/* A value whose mean is m has at least the variance m * noise[i], by sampling. */
	const double *noise;
	size_t nr;
};

struct change_point {
	size_t at;     /* index of the first value after the change */
	double before; /* mean of the values since the previous point */
	double after;  /* mean of the values up to the next point */
	double p; /* corrected for the number of points at which the series was divided */
};

struct change_points {
	VEC(struct change_point) points; /* in order */
	double least_p; /* of the points that were dropped; 1: there was none */
};

/* Finds the points with p <= limit.  Changes of at most `margin` do not count.  A segment has at
 * least 2 values, and one more per 50 of the series; the last one can be shorter.  Returns 0 or
 * -ENOMEM; call change_points_done() in any case. */
int change_points_find(const struct series *s, double margin, double limit,
		       struct change_points *ret);
/* Drops points until all have p <= limit, the least significant one first. */
void change_points_prune(const struct series *s, double margin, double limit,
			 struct change_points *points);
void change_points_done(struct change_points *points);
