/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/change_points.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "compare/student.h"

/* Minimum number of values in a segment. A single outlier is not a change. In a long series, a few
 * adjacent values can differ by chance, so the minimum grows with the length. */
enum {
	SEGMENT_LEAST = 2,
	SEGMENT_STEP = 50 /* one more per this many values of the series */
};

/* A segment is divided if the p value of the division is at most this, before the correction for
 * the length of the series. */
static const double divide_below = 0.05;

/* A division of the values [first, until) into [first, at) and [at, until). `until` can be before
 * the end of the segment that is searched. */
struct division {
	size_t first, at, until;
	double distance;
};

/* Working memory of a search. For each index i, the arrays have sums of the absolute differences
 * between pairs of values of the current segment. */
struct divider {
	const struct series *series;
	double margin;
	double *to_new;    /* pairs of the newest value and a value before i */
	double *left;      /* pairs of values before i */
	double *right;     /* pairs of values from i on */
	double *cross;     /* pairs of a value before i and a value from i on */
	VEC(size_t) stack; /* ends of the segments still to be searched */
};

static bool divider_init(struct divider *d, const struct series *s, double margin)
{
	const size_t nr = s->nr + 1;

	*d = (struct divider){ .series = s, .margin = margin };
	d->to_new = calloc(4 * nr, sizeof(*d->to_new));
	if (!d->to_new)
		return false;
	d->left = d->to_new + nr;
	d->right = d->left + nr;
	d->cross = d->right + nr;
	return true;
}

static const double *series_shape(const struct series *s)
{
	return s->relative ? s->relative : s->values;
}

/* Adds the value at index until - 1 to the sums of the segment that begins at `first`. */
static void divider_add(struct divider *d, size_t first, size_t until)
{
	const double *values = series_shape(d->series);
	const double value = values[until - 1];

	d->to_new[first] = 0;
	for (size_t i = first; i + 1 < until; i++)
		d->to_new[i + 1] = d->to_new[i] + fabs(values[i] - value);
	for (size_t i = first + 1; i < until; i++) {
		d->cross[i] += d->to_new[i];
		d->right[i] += d->to_new[until - 1] - d->to_new[i];
	}
	d->left[until] = d->left[until - 1] + d->to_new[until - 1];
	d->cross[until] = d->right[until] = 0;
}

/* Returns the energy distance between the two sides of a division. The scale makes divisions into
 * sides of different lengths comparable. */
static double divider_distance(const struct divider *d, const struct division *at)
{
	const double n = (double)(at->at - at->first);
	const double m = (double)(at->until - at->at);

	return n * m / (n + m) *
	       (2 * d->cross[at->at] / (n * m) - 2 * d->left[at->at] / (n * n) -
		2 * d->right[at->at] / (m * m));
}

/* Finds the division of [first, end) with the largest energy distance. Returns false if the
 * segment is too short to be divided. */
static bool divider_find(struct divider *d, size_t first, size_t end,
			 struct division *ret_best)
{
	const size_t least = SEGMENT_LEAST + d->series->nr / SEGMENT_STEP;
	bool found = false;

	d->left[first] = d->cross[first] = d->right[first] = 0;
	for (size_t until = first + 1; until <= end; until++) {
		divider_add(d, first, until);
		for (size_t at = first + least; at < until; at++) {
			struct division division = { first, at, until, 0 };

			if (until - at < least && until < d->series->nr)
				break;
			division.distance = divider_distance(d, &division);
			if (!found || division.distance > ret_best->distance) {
				*ret_best = division;
				found = true;
			}
		}
	}
	return found;
}

struct segment_stats {
	double nr, mean,
		squares; /* `squares`: sum of squared deviations from the mean */
	double noise;    /* mean of the noise of the values (struct series) */
};

static struct segment_stats segment_stats(const struct series *s, const double *values,
					  size_t first, size_t end)
{
	struct segment_stats t = { .nr = (double)(end - first) };

	for (size_t i = first; i < end; i++) {
		t.mean += values[i] / t.nr;
		t.noise += s->noise[i] / t.nr;
	}
	for (size_t i = first; i < end; i++)
		t.squares += (values[i] - t.mean) * (values[i] - t.mean);
	return t;
}

/* Returns the p value of a t-test for a difference of more than `margin` between the means of the
 * two sides of a division. Stores the difference in *ret_change. */
static double test_means(const struct series *s, const double *values,
			 const struct division *d, double margin, double *ret_change)
{
	const struct segment_stats a = segment_stats(s, values, d->first, d->at);
	const struct segment_stats b = segment_stats(s, values, d->at, d->until);
	const double df = a.nr + b.nr - 2;
	const double pooled = (a.squares + b.squares) / df;
	const double mean = (a.nr * a.mean + b.nr * b.mean) / (a.nr + b.nr);
	const double variance = fmax(pooled, a.noise * mean) / a.nr +
				fmax(pooled, b.noise * mean) / b.nr;
	const double distance = fabs(b.mean - a.mean) - margin;

	*ret_change = b.mean - a.mean;
	if (distance <= 0)
		return 1;
	return student_two_sided(distance / sqrt(variance), df);
}

static double division_test(const struct series *s, const struct division *d,
			    double margin)
{
	double change, relative, p = test_means(s, s->values, d, margin, &change);

	if (!s->relative)
		return p;
	p = fmax(p, test_means(s, s->relative, d, margin, &relative));
	return (change > 0) == (relative > 0) ? p : 1;
}

/* Returns the factor that corrects a p value for the choice of the best of many divisions of a
 * series with `nr` values. */
static double chances(size_t nr)
{
	return 2 * (double)nr;
}

static bool points_add(struct change_points *to, size_t at)
{
	return vec_push(&to->points, (struct change_point){ .at = at });
}

static int compare_points(const void *a, const void *b)
{
	const struct change_point *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

/* Divides the series, and then each side again, as long as the divisions are significant. Adds
 * each division to the points. Returns false if memory is short. */
static bool divide(struct divider *d, struct change_points *to)
{
	size_t first = 0;

	if (!vec_push(&d->stack, d->series->nr))
		return false;
	while (d->stack.nr) {
		const size_t end = d->stack.at[d->stack.nr - 1];
		struct division best;

		if (divider_find(d, first, end, &best) &&
		    division_test(d->series, &best, d->margin) <= divide_below) {
			/* Search the left side next; the right side stays on the stack. */
			if (!points_add(to, best.at) || !vec_push(&d->stack, best.at))
				return false;
		} else {
			first = end;
			d->stack.nr--;
		}
	}
	return true;
}

/* Sets the means and p values of all points, and returns the index of the least significant one. */
static size_t test_points(const struct series *s, double margin,
			  struct change_points *points)
{
	size_t worst = 0;

	for (size_t i = 0; i < points->points.nr; i++) {
		struct change_point *p = &points->points.at[i];
		const struct division d = {
			.first = i ? p[-1].at : 0,
			.at = p->at,
			.until = i + 1 < points->points.nr ? p[1].at : s->nr,
		};

		p->before = segment_stats(s, s->values, d.first, d.at).mean;
		p->after = segment_stats(s, s->values, d.at, d.until).mean;
		p->p = fmin(1, chances(s->nr) * division_test(s, &d, margin));
		if (p->p > points->points.at[worst].p)
			worst = i;
	}
	return worst;
}

void change_points_prune(const struct series *s, double margin, double limit,
			 struct change_points *points)
{
	while (points->points.nr) {
		const size_t worst = test_points(s, margin, points);
		const double p = points->points.at[worst].p;

		if (p <= limit)
			return;
		points->least_p = fmin(points->least_p, p);
		points->points.nr--;
		for (size_t i = worst; i < points->points.nr; i++)
			points->points.at[i] = points->points.at[i + 1];
	}
}

int change_points_find(const struct series *s, double margin, double limit,
		       struct change_points *ret)
{
	struct divider d;
	bool done;

	*ret = (struct change_points){ .least_p = 1 };
	if (!divider_init(&d, s, margin))
		return -ENOMEM;
	done = divide(&d, ret);
	free(d.to_new);
	vec_done(&d.stack);
	if (!done)
		return -ENOMEM;
	if (ret->points.nr)
		qsort(ret->points.at, ret->points.nr, sizeof(*ret->points.at),
		      compare_points);
	change_points_prune(s, margin, limit, ret);
	return 0;
}

void change_points_done(struct change_points *points)
{
	vec_done(&points->points);
}
