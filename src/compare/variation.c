/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/variation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/containers/vec.h"
#include "compare/student.h"

enum {
	POOL_ROWS = 8,   /* neighbours on each side whose design effects are pooled */
	POOL_DF = 16,    /* weight of the pooled design effect */
	FIT_ROWS = 8,    /* minimum number of rows to estimate the usual variance */
	FIT_STEPS = 61,  /* tried ratios of the two parts of the usual variance */
	FIT_EFFECTS = 3, /* tried exponents of the design effects: 1, 0.5, 0 */
	FIT_COUNT = 5, /* minimum number of samples per run for a variance to be used */
	DF_MAX = 1000
};

/* The tried ratios, as powers of 10. */
static const double fit_first = -6, fit_step = 0.15;

/* Minimum variance of a row, as a fraction of the expected one. Counts that are equal in all runs
 * are coincidence. */
static const double least_part = 1e-3;

/* Minimum design effect. Samples can be more regular than independent ones, for example because of
 * a fixed period, but an effect far below 1 is coincidence. */
static const double least_effect = 0.7;

/* Sums of a row over the runs of a side. */
struct side_sums {
	double count, total;
	double nr_runs;
	double variance; /* of a single run's value, between runs */
};

static struct side_sums side_sums(const struct variation_input *in, size_t row,
				  enum compare_side side)
{
	const struct count_sums *sums = in->sums + row * in->nr_runs;
	struct side_sums s = { 0 };
	double squares = 0;

	for (size_t i = 0; i < in->nr_runs; i++) {
		if (in->runs[i].side != side)
			continue;
		s.count += sums[i].count;
		s.total += in->runs[i].total;
		s.nr_runs++;
	}
	if (s.nr_runs < 2 || s.total <= 0)
		return s;
	for (size_t i = 0; i < in->nr_runs; i++) {
		if (in->runs[i].side == side) {
			const double residual =
				sums[i].count - s.count / s.total * in->runs[i].total;

			squares += residual * residual;
		}
	}
	s.variance =
		squares / (s.total * s.total) * s.nr_runs * s.nr_runs / (s.nr_runs - 1);
	return s;
}

/* A row's residuals in blocks, compared with independent samples. */
struct block_sums {
	double residuals; /* their sum of squares */
	double expected;  /* that of independent samples */
	double df;
};

static void block_sums_add(struct block_sums *b, const struct count_sums *x,
			   const struct run_sums *n, bool is_rate)
{
	const double ratio = n->total > 0 ? x->count / n->total : 0;
	const double own =
		x->squares - 2 * ratio * x->products + ratio * ratio * n->squares;
	const double next =
		x->neighbors - ratio * x->crossed + ratio * ratio * n->neighbors;

	if (n->nr_blocks < 2)
		return;
	b->residuals += fmax(own + 2 * next, 0) * n->nr_blocks / (n->nr_blocks - 1);
	b->expected += x->count * (is_rate ? 1 : 1 - ratio);
	b->df += fmin(n->nr_blocks - 1, x->count) / 3;
}

struct pooled_row {
	size_t row;
	struct block_sums blocks;
};

static int compare_pooled_rows(const void *a, const void *b)
{
	const struct pooled_row *one = a, *other = b;

	if (one->blocks.expected != other->blocks.expected)
		return one->blocks.expected < other->blocks.expected ? -1 : 1;
	return one->row < other->row ? -1 : 1;
}

/* Returns the weight of the pooled design effect for a row.  Large rows differ from their
 * neighbours and have enough data of their own, so the weight is lower for them. */
static double pool_weight(double own_df)
{
	return own_df > POOL_DF ? POOL_DF * POOL_DF / own_df : POOL_DF;
}

/* Sets the design effects of all rows, and their degrees of freedom. For a row with few samples,
 * the design effect mostly comes from rows of similar size. */
static int set_design_effects(const struct variation_input *in,
			      struct row_variation *rows)
{
	struct pooled_row *pool = calloc(in->nr_rows + 1, sizeof(*pool));

	if (!pool)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_rows; i++) {
		pool[i].row = i;
		for (size_t r = 0; r < in->nr_runs; r++)
			block_sums_add(&pool[i].blocks, &in->sums[i * in->nr_runs + r],
				       &in->runs[r], in->is_rate);
	}
	qsort(pool, in->nr_rows, sizeof(*pool), compare_pooled_rows);
	for (size_t i = 0; i < in->nr_rows; i++) {
		const struct block_sums *own = &pool[i].blocks;
		const double weight = pool_weight(own->df);
		double effects = POOL_DF, weights = POOL_DF, effect;
		size_t first = i < POOL_ROWS ? 0 : i - POOL_ROWS;

		for (size_t j = first; j < in->nr_rows && j <= i + POOL_ROWS; j++) {
			const struct block_sums *b = &pool[j].blocks;

			if (b->expected > 0) {
				effects += b->df * b->residuals / b->expected;
				weights += b->df;
			}
		}
		effect = weight * fmax(effects / weights, 1);
		if (own->expected > 0)
			effect += own->df * own->residuals / own->expected;
		effect /= weight + own->df;
		rows[pool[i].row].design = fmax(effect, least_effect);
		rows[pool[i].row].df = weight + own->df;
	}
	free(pool);
	return 0;
}

/* The variance of a row between the runs of one side, and the two components of the usual
 * variance. */
struct fit_item {
	double variance;
	double design; /* design effect, not yet included in `sampling` */
	double sampling;
	double runs;
	double df;
};

struct fit_items {
	VEC(struct fit_item) items;
};

static struct fit_item fit_item(const struct variation_input *in,
				const struct side_sums *s, double design)
{
	const double p = s->total > 0 ? s->count / s->total : 0;
	const double q = in->is_rate ? p : p * (1 - p);

	return (struct fit_item){
		.variance = s->variance,
		.design = design,
		.sampling = s->total > 0 ? q * s->nr_runs / s->total : 0,
		.runs = q * q,
		.df = s->nr_runs - 1,
	};
}

static bool is_fit(const struct side_sums *s)
{
	return s->nr_runs >= 2 && s->count >= FIT_COUNT * s->nr_runs &&
	       s->count < s->total;
}

static bool find_fit_items(const struct variation_input *in,
			   const struct row_variation *rows, struct fit_items *to)
{
	for (size_t i = 0; i < in->nr_rows; i++) {
		for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
			struct side_sums s = side_sums(in, i, side);

			if (!is_fit(&s))
				continue;
			if (!vec_push(&to->items, fit_item(in, &s, rows[i].design)))
				return false;
		}
	}
	return true;
}

/* Returns the factor by which a design effect increases the sampling variance between runs. */
static double effect_between(double design, const struct usual_variation *usual)
{
	if (usual->effect >= 1)
		return design;
	return usual->effect > 0 ? pow(design, usual->effect) : 1;
}

static double usual_of(const struct fit_item *item, const struct usual_variation *usual)
{
	return usual->sampling * item->sampling * effect_between(item->design, usual) +
	       usual->runs * item->runs;
}

/* Returns the logarithm of (variance / usual variance), corrected by Smyth's method (2004) so that
 * it has the mean 0 if the usual variance is right. */
static double log_ratio(const struct fit_item *item,
			const struct usual_variation *tried)
{
	const double usual = usual_of(item, tried);
	const double variance = fmax(item->variance, least_part * item->sampling);

	return log(variance / usual) - gamma_log_slope(item->df / 2) +
	       log(item->df / 2);
}

struct row_spread {
	double mean;
	double variance; /* variance in addition to that of the estimates themselves */
};

static struct row_spread find_spread(const struct fit_items *from,
				     const struct usual_variation *tried)
{
	const double nr = (double)from->items.nr;
	double sum = 0, squares = 0, expected = 0;

	for (size_t i = 0; i < from->items.nr; i++) {
		const double z = log_ratio(&from->items.at[i], tried);

		sum += z;
		squares += z * z;
		expected += gamma_log_curve(from->items.at[i].df / 2);
	}
	return (struct row_spread){
		.mean = sum / nr,
		.variance = (squares - sum * sum / nr) / (nr - 1) - expected / nr,
	};
}

/* Fits the usual variation: the exponent and the ratio of the two components for which the rows
 * agree best, and how closely they agree. */
static void fit_usual(const struct fit_items *from, struct usual_variation *usual)
{
	struct usual_variation best = *usual;
	struct row_spread least = find_spread(from, &best);
	double correction;

	for (int i = 0; i < FIT_EFFECTS * FIT_STEPS; i++) {
		const int step = i % FIT_STEPS, effect = i / FIT_STEPS;
		const struct usual_variation tried = {
			.sampling = 1,
			.runs = step ? pow(10, fit_first + (step - 1) * fit_step) : 0,
			.effect = 1 - (double)effect / (FIT_EFFECTS - 1),
		};
		const struct row_spread s = find_spread(from, &tried);

		if (s.variance < least.variance) {
			least = s;
			best = tried;
		}
	}
	usual->df = DF_MAX;
	if (least.variance > 0)
		usual->df = fmin(2 * gamma_log_curve_inverse(least.variance), DF_MAX);
	correction = gamma_log_slope(usual->df / 2) - log(usual->df / 2);
	usual->sampling = exp(least.mean + correction);
	usual->runs = best.runs * usual->sampling;
	usual->effect = best.effect;
}

/* Sets the scale of a row and its degrees of freedom: combines its own variance with the usual
 * one. */
static void set_scale(const struct variation_input *in, size_t row,
		      const struct usual_variation *usual, struct row_variation *v)
{
	double weight = usual->df, sum = weight, df = 0;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		struct side_sums s = side_sums(in, row, side);
		struct fit_item item = fit_item(in, &s, v->design);
		const double expected = usual_of(&item, usual);

		if (s.nr_runs < 2)
			continue;
		df += s.nr_runs - 1;
		if (!is_fit(&s) || expected <= 0)
			continue;
		weight += item.df;
		sum += item.df * fmax(s.variance / expected, least_part);
	}
	v->scale = weight > 0 ? sum / weight : 1;
	v->df = fmin(weight > 0 ? weight : df, DF_MAX);
}

static void set_estimates(const struct variation_input *in, size_t row,
			  const struct usual_variation *usual, struct row_variation *v)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		struct side_sums s = side_sums(in, row, side);
		const double total = fmax(s.total, 1e-300);

		v->sides[side] = (struct side_estimate){
			.value = s.count / total,
			.linear = v->scale * usual->sampling *
				  effect_between(v->design, usual) / total,
			.square =
				s.nr_runs > 0 ? v->scale * usual->runs / s.nr_runs : 0,
			.is_rate = in->is_rate,
		};
	}
}

static bool has_several_runs(const struct variation_input *in)
{
	size_t nr[COMPARE_SIDES] = { 0 };

	for (size_t i = 0; i < in->nr_runs; i++)
		nr[in->runs[i].side]++;
	return nr[SIDE_BASE] > 1 || nr[SIDE_NEW] > 1;
}

static void estimate_all(const struct variation_input *in,
			 const struct usual_variation *usual,
			 struct row_variation *rows)
{
	for (size_t i = 0; i < in->nr_rows; i++) {
		rows[i].scale = 1;
		if (usual->between)
			set_scale(in, i, usual, &rows[i]);
		set_estimates(in, i, usual, &rows[i]);
	}
}

int variation_estimate(const struct variation_input *in, struct row_variation *ret_rows,
		       struct usual_variation *ret_usual)
{
	struct usual_variation usual = { .between = has_several_runs(in),
					 .sampling = 1,
					 .effect = 1 };
	struct fit_items items = { 0 };
	int r = set_design_effects(in, ret_rows);

	if (!r && usual.between && !find_fit_items(in, ret_rows, &items))
		r = -ENOMEM;
	if (!r && items.items.nr >= FIT_ROWS)
		fit_usual(&items, &usual);
	vec_done(&items.items);
	if (r)
		return r;
	estimate_all(in, &usual, ret_rows);
	*ret_usual = usual;
	return 0;
}

int variation_estimate_like(const struct variation_input *in,
			    struct row_variation *ret_rows,
			    const struct usual_variation *usual)
{
	int r = set_design_effects(in, ret_rows);

	if (!r)
		estimate_all(in, usual, ret_rows);
	return r;
}
