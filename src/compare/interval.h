/* SPDX-License-Identifier: GPL-2.0-or-later */
/* interval.h - confidence limits of a share or a rate, and of the difference of two.
 * Layer: compare.  Pure functions.
 * The limits of a side are score limits, as Wilson's: the values p at which the estimate is
 * `critical` standard deviations away, where the standard deviation is that at p.  They exist for
 * a side without any samples.  The limits of a difference combine those of the sides
 * (Newcombe's method, also called MOVER), so they are not symmetric when the sides are not. */
#pragma once
#include <stdbool.h>

/* An estimate and its variance V(p), if the true value is p: V(p) = linear * q + square * q * q,
 * where q is p * (1 - p) for a share and p for a rate. */
struct side_estimate {
	double value;
	double linear; /* sampling: design effect / total */
	double square; /* variation between runs, relative to q */
	bool is_rate;
};

struct limits {
	double low, high;
};

double estimate_variance(const struct side_estimate *e, double p);
/* Returns the confidence limits of an estimate. `critical` is a quantile of Student's t
 * distribution. */
struct limits estimate_limits(const struct side_estimate *e, double critical);
/* Returns the confidence limits of the difference to->value - from->value. */
struct limits difference_limits(const struct side_estimate *from,
				const struct side_estimate *to, double critical);
/* Returns whether the interval of the difference excludes all differences of at most `margin` in
 * either direction. */
bool difference_exceeds(const struct side_estimate *from,
			const struct side_estimate *to, double margin, double critical);
/* Returns the largest number of standard deviations at which the interval of the difference still
 * excludes all differences of at most `margin` in either direction; 0 if none does. */
double difference_score(const struct side_estimate *from,
			const struct side_estimate *to, double margin);
