/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/common.h"
#include "compare/discovery.h"
#include "compare/images.h"
#include "compare/rows.h"
#include "compare/shifts.h"
#include "compare/student.h"
#include "compare/tree.h"

enum {
	TEST_COUNT =
		5 /* a row is tested if at least one side has this many samples of it */
};

/* Rows with a smaller share of the samples of both sides are not tested: each test makes the others
 * less sensitive. */
static const double test_share = 0.0005;

int comparison_init(struct comparison *c, const struct comparison_options *options)
{
	*c = (struct comparison){ .options = *options, .common = 1 };
	return strtab_init(&c->strings);
}

static void run_done(struct compare_run *run)
{
	vec_done(&run->blocks);
	vec_done(&run->images);
	vec_done(&run->items);
	vec_done(&run->nodes);
	vec_done(&run->cells);
}

void comparison_done(struct comparison *c)
{
	for (size_t i = 0; i < c->runs.nr; i++)
		run_done(&c->runs.at[i]);
	vec_done(&c->runs);
	vec_done(&c->images);
	vec_done(&c->moves);
	vec_done(&c->nodes);
	vec_done(&c->rows);
	strtab_done(&c->strings);
}

struct compare_run *comparison_add_run(struct comparison *c, enum compare_side side,
				       const char *name)
{
	struct compare_run run = { .side = side,
				   .name = strtab_add(&c->strings, name) };

	if (run.name == STRTAB_FAILED || !vec_push(&c->runs, run))
		return NULL;
	c->nr_runs[side]++;
	return &c->runs.at[c->runs.nr - 1];
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICT_COUNT] = {
		[VERDICT_NOISE] = "noise",         [VERDICT_SLOWER] = "slower",
		[VERDICT_FASTER] = "faster",       [VERDICT_NEW] = "new",
		[VERDICT_GONE] = "gone",           [VERDICT_MOVED] = "moved",
		[VERDICT_TRANSIENT] = "transient",
	};

	return names[v];
}

/* Sets c->common from the large rows (common.h). Returns 0 or -ENOMEM. */
static int find_common(struct comparison *c)
{
	struct row_ratio *ratios = calloc(c->nr_disjoint + 1, sizeof(*ratios));
	size_t nr = 0;

	if (!ratios)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_disjoint; i++) {
		const struct compare_row *row = &c->rows.at[i];
		const struct side_estimate *sides = row->variation.sides;

		if (row->count[SIDE_BASE] < COMMON_COUNT ||
		    row->count[SIDE_NEW] < COMMON_COUNT)
			continue;
		ratios[nr++] = (struct row_ratio){
			.ratio = sides[SIDE_NEW].value / sides[SIDE_BASE].value,
			.share = sides[SIDE_BASE].value,
		};
	}
	c->common = common_factor(ratios, nr);
	free(ratios);
	return 0;
}

static double p_value(const struct side_estimate *from, const struct side_estimate *to,
		      double df, double margin)
{
	return student_two_sided(difference_score(from, to, margin), df);
}

/* Multiplies an estimate by a factor near 1. */
static struct side_estimate estimate_scaled(struct side_estimate e, double factor)
{
	e.value = fmin(e.value * factor, 1);
	e.linear *= factor;
	return e;
}

static bool is_tested(const struct comparison *c, const struct compare_row *row)
{
	const double samples = c->samples[SIDE_BASE] + c->samples[SIDE_NEW];

	/* Do not test the row of a tree whose samples are in no function. */
	if (row->image == DICT_NONE && row->parent != DICT_NONE)
		return false;
	return fmax(row->count[SIDE_BASE], row->count[SIDE_NEW]) >= TEST_COUNT &&
	       row->count[SIDE_BASE] + row->count[SIDE_NEW] >= test_share * samples;
}

/* Returns the p value of a row, or NAN if it is not tested. For a row of shares to count as
 * changed, its share and its share relative to the unchanged rows must both change, in the same
 * direction. */
static double test_row(const struct comparison *c, const struct compare_row *row,
		       double margin)
{
	const struct side_estimate *from = &row->variation.sides[SIDE_BASE];
	const struct side_estimate *to = &row->variation.sides[SIDE_NEW];
	const struct side_estimate relative = estimate_scaled(*to, 1 / c->common);
	const double df = row->variation.df;
	double p;

	if (!is_tested(c, row))
		return NAN;
	p = p_value(from, to, df, margin);
	if (c->options.is_rate)
		return p;
	if ((to->value > from->value) != (relative.value > from->value))
		return 1;
	return fmax(p, p_value(from, &relative, df, margin));
}

static enum verdict find_verdict(const struct comparison *c,
				 const struct compare_row *row)
{
	if (isnan(row->q) || row->q > c->options.discovery)
		return VERDICT_NOISE;
	if (row->count[SIDE_BASE] <= 0)
		return VERDICT_NEW;
	if (row->count[SIDE_NEW] <= 0)
		return VERDICT_GONE;
	return row->change > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
}

/* Sets the values of a row, their difference and its interval, in percent of `whole`. */
static void set_values(const struct comparison *c, struct compare_row *row,
		       double whole)
{
	const struct side_estimate *sides = row->variation.sides;
	const double critical =
		student_critical(1 - c->options.confidence, row->variation.df);
	const struct limits l =
		difference_limits(&sides[SIDE_BASE], &sides[SIDE_NEW], critical);

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		row->value[side] = 100 * sides[side].value / whole;
	row->change = row->value[SIDE_NEW] - row->value[SIDE_BASE];
	row->interval = (struct limits){ 100 * l.low / whole, 100 * l.high / whole };
}

static void set_counts(const struct comparison *c, const struct count_sums *sums,
		       struct compare_row *row)
{
	for (size_t i = 0; i < c->runs.nr; i++)
		row->count[c->runs.at[i].side] += sums[i].count;
}

/* Tests all rows, and sets their p, q and verdicts. The false-discovery rate is that over all
 * rows. */
static int test_rows(struct comparison *c, double whole)
{
	const double margin = c->options.least_change / 100 * whole;
	double *p = calloc(c->rows.nr + 1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows.nr; i++) {
		p[i] = c->rows.at[i].p = test_row(c, &c->rows.at[i], margin);
		c->nr_tested += !isnan(p[i]);
	}
	r = discovery_adjust(p, c->rows.nr);
	for (size_t i = 0; !r && i < c->rows.nr; i++) {
		c->rows.at[i].q = p[i];
		c->rows.at[i].verdict = find_verdict(c, &c->rows.at[i]);
	}
	free(p);
	return r;
}

/* For rates, the total is also a row.  It is tested alone, not together with the other rows.  Sets
 * *ret_whole to the base's total. */
static int compare_total(struct comparison *c, const struct row_sums *sums,
			 double *ret_whole)
{
	const struct variation_input in = { sums->runs, c->runs.nr, sums->totals, 1,
					    true };
	struct usual_variation usual;
	struct compare_row *total = &c->total;
	int r = variation_estimate(&in, &total->variation, &usual);

	if (r)
		return r;
	*ret_whole = total->variation.sides[SIDE_BASE].value;
	total->image = total->move = total->node = total->parent = DICT_NONE;
	set_counts(c, sums->totals, total);
	set_values(c, total, *ret_whole);
	total->p = total->q =
		test_row(c, total, c->options.least_change / 100 * *ret_whole);
	total->verdict = find_verdict(c, total);
	return 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct compare_row *one = a, *other = b;
	const double x = fabs(one->change), y = fabs(other->change);

	if (x != y)
		return x > y ? -1 : 1;
	if (one->value[SIDE_BASE] != other->value[SIDE_BASE])
		return one->value[SIDE_BASE] > other->value[SIDE_BASE] ? -1 : 1;
	if (one->image != other->image)
		return one->image < other->image ? -1 : 1;
	if (one->name != other->name)
		return one->name < other->name ? -1 : 1;
	if (one->line != other->line)
		return one->line < other->line ? -1 : 1;
	return (one->number > other->number) - (one->number < other->number);
}

/* Estimates the rows that are sums of others.  They vary differently from single functions of their
 * size: less if the functions in them vary independently, more if they vary together.  They are
 * also parts of each other, so they agree more closely than independent rows, and what is usual for
 * them is known less well than it seems.  So the larger variation of both kinds is used. */
static int estimate_sums(const struct variation_input *in, struct row_variation *rows,
			 const struct usual_variation *single)
{
	struct usual_variation usual;
	int r = variation_estimate(in, rows, &usual);

	if (r)
		return r;
	if (!usual.between || usual.df <= 0)
		return variation_estimate_like(in, rows, single);
	usual.sampling = fmax(usual.sampling, single->sampling);
	usual.runs = fmax(usual.runs, single->runs);
	usual.effect = fmax(usual.effect, single->effect);
	usual.df = fmin(usual.df, single->df);
	return variation_estimate_like(in, rows, &usual);
}

/* Estimates the variation of all rows. Only the disjoint rows determine the usual variation. */
static int estimate_variations(struct comparison *c, const struct row_sums *sums,
			       struct row_variation *variations)
{
	struct variation_input in = { sums->runs, c->runs.nr, sums->rows,
				      c->nr_disjoint, c->options.is_rate };
	int r = variation_estimate(&in, variations, &c->usual);

	if (r || c->nr_disjoint == c->rows.nr)
		return r;
	in.sums += c->nr_disjoint * c->runs.nr;
	in.nr_rows = c->rows.nr - c->nr_disjoint;
	return estimate_sums(&in, variations + c->nr_disjoint, &c->usual);
}

static int estimate_rows(struct comparison *c, const struct row_sums *sums,
			 struct row_variation *variations)
{
	double whole = 1;
	int r = estimate_variations(c, sums, variations);

	if (!r && c->options.is_rate)
		r = compare_total(c, sums, &whole);
	for (size_t i = 0; !r && i < c->rows.nr; i++) {
		struct compare_row *row = &c->rows.at[i];

		row->number = (uint32_t)i;
		row->variation = variations[i];
		set_counts(c, sums->rows + i * c->runs.nr, row);
		set_values(c, row, whole);
	}
	if (!r && !c->options.is_rate)
		r = find_common(c);
	if (!r)
		r = test_rows(c, whole);
	return r ? r : shifts_find(c, sums, whole);
}

int comparison_finish(struct comparison *c)
{
	struct row_variation *variations = NULL;
	struct row_sums sums = { 0 };
	int r = images_match(c);

	for (size_t i = 0; i < c->runs.nr; i++)
		c->samples[c->runs.at[i].side] += c->runs.at[i].samples;
	if (!r)
		r = rows_make(c, &sums);
	if (!r) {
		variations = calloc(c->rows.nr + 1, sizeof(*variations));
		r = variations ? estimate_rows(c, &sums, variations) : -ENOMEM;
	}
	if (!r && c->rows.nr)
		qsort(c->rows.at, c->rows.nr, sizeof(*c->rows.at), compare_changes);
	if (!r && c->options.is_tree)
		r = tree_renumber_rows(c);
	free(variations);
	row_sums_done(&sums);
	return r;
}
