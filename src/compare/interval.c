/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/interval.h"

#include <math.h>

enum {
	BISECTIONS = 48,
	SCORE_BISECTIONS = 32
};

/* The search for a score stops at about this value; larger scores are not distinguished. */
static const double score_max = 1000;

double estimate_variance(const struct side_estimate *e, double p)
{
	const double q = e->is_rate ? p : p * (1 - p);

	return e->linear * q + e->square * q * q;
}

/* Returns whether p is closer to the estimate than `critical` standard deviations. */
static bool estimate_covers(const struct side_estimate *e, double p, double critical)
{
	const double distance = e->value - p;

	return distance * distance <= critical * critical * estimate_variance(e, p);
}

/* Finds the confidence limit, which is between the estimate and `outside`. Returns `outside` if no
 * limit is found. */
static double find_limit(const struct side_estimate *e, double outside, double critical)
{
	double inside = e->value;

	/* The relative variation of a rate can be so large that no upper limit exists. */
	if (estimate_covers(e, outside, critical) && outside > 0)
		return outside;
	for (int i = 0; i < BISECTIONS; i++) {
		const double middle = (inside + outside) / 2;

		if (estimate_covers(e, middle, critical))
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

/* Returns the upper end of the search for an upper limit: 1 for a share, and for a rate a value far
 * above the limit. */
static double highest(const struct side_estimate *e, double critical)
{
	const double c = critical * critical;

	if (!e->is_rate)
		return 1;
	return 100 * (e->value + c * e->linear) * (1 + c * e->square);
}

/* Returns the limits without variation between runs: the solutions of a quadratic equation,
 * a * p * p - b * p + value * value = 0. */
static struct limits sampling_limits(const struct side_estimate *e, double critical)
{
	const double c = critical * critical * e->linear;
	const double a = e->is_rate ? 1 : 1 + c;
	const double b = 2 * e->value + c;
	const double root = sqrt(fmax(b * b - 4 * a * e->value * e->value, 0));
	const double high = (b + root) / (2 * a);

	/* The product of the solutions is value * value / a: the difference b - root would lose
	 * precision. */
	return (struct limits){
		.low = e->value > 0 ? e->value * e->value / (a * high) : 0,
		.high = e->is_rate ? high : fmin(high, 1),
	};
}

struct limits estimate_limits(const struct side_estimate *e, double critical)
{
	struct limits l = { 0, e->value };

	if (critical <= 0)
		return (struct limits){ e->value, e->value };
	if (e->square <= 0)
		return sampling_limits(e, critical);
	if (e->value > 0)
		l.low = find_limit(e, 0, critical);
	if (e->is_rate || e->value < 1)
		l.high = find_limit(e, highest(e, critical), critical);
	return l;
}

struct limits difference_limits(const struct side_estimate *from,
				const struct side_estimate *to, double critical)
{
	const struct limits a = estimate_limits(from, critical);
	const struct limits b = estimate_limits(to, critical);
	const double change = to->value - from->value;

	return (struct limits){
		change - hypot(to->value - b.low, a.high - from->value),
		change + hypot(b.high - to->value, from->value - a.low),
	};
}

bool difference_exceeds(const struct side_estimate *from,
			const struct side_estimate *to, double margin, double critical)
{
	const struct limits l = difference_limits(from, to, critical);

	return l.low > margin || l.high < -margin;
}

double difference_score(const struct side_estimate *from,
			const struct side_estimate *to, double margin)
{
	double low = 0, high = 4;

	if (fabs(to->value - from->value) <= margin)
		return 0;
	while (high < score_max && difference_exceeds(from, to, margin, high))
		high *= 2;
	for (int i = 0; i < SCORE_BISECTIONS; i++) {
		const double middle = (low + high) / 2;

		if (difference_exceeds(from, to, margin, middle))
			low = middle;
		else
			high = middle;
	}
	return low;
}
