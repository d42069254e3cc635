/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/change_points.h"
#include "compare/common.h"
#include "compare/discovery.h"
#include "compare/images.h"
#include "compare/rows.h"

enum {
	TEST_COUNT =
		5 /* a row is tested if it has at least this many samples in some run */
};

/* A row is tested only if it has at least this share of the samples of some run, because each
 * additional test makes the others less sensitive. */
static const double history_test_share = 0.001;

/* Code only moved between functions if their changes cancel each other, so that at most this
 * fraction of the change remains. */
static const double moved_rest = 0.35;

/* The series of a row. */
struct history_row {
	struct series series;
	double *noise;    /* owned; NULL: the row is not tested */
	double *relative; /* owned */
	struct change_points found;
};

struct history_search {
	struct comparison *c;
	struct history *history;
	struct row_sums sums;
	struct row_variation *variations; /* only for the design effects */
	struct history_row *rows;
	size_t nr_rows;
	double *common; /* by run: factor between shares in the run and mean shares (common.h) */
	double whole; /* value of 100 %: 1, or the first run's total rate */
};

static int compare_run_starts(const void *a, const void *b, void *ctx)
{
	const struct compare_run *one = a, *other = b;
	const struct comparison *c = ctx;

	if (one->facts.start_ns != other->facts.start_ns)
		return one->facts.start_ns < other->facts.start_ns ? -1 : 1;
	return strverscmp(strtab_get(&c->strings, one->name),
			  strtab_get(&c->strings, other->name));
}

static const struct count_sums *history_sums(const struct history_search *h, size_t row)
{
	return row < h->sums.nr_rows ? h->sums.rows + row * h->c->runs.nr
				     : h->sums.totals;
}

static double run_total(const struct history_search *h, size_t run)
{
	return fmax(h->sums.runs[run].total, 1e-300);
}

static double *row_values(const struct history_search *h, size_t row)
{
	return h->history->values + row * h->c->runs.nr;
}

/* Makes the rows and their sums, and allocates the arrays. The total of rates is the last row. */
static int history_make_rows(struct history_search *h)
{
	struct comparison *c = h->c;
	const struct compare_row total = { .image = DICT_NONE, .move = DICT_NONE };
	int r = images_match(c);

	if (!r)
		r = rows_make(c, &h->sums);
	if (!r && c->options.is_rate && !vec_push(&c->rows, total))
		r = -ENOMEM;
	if (r)
		return r;
	h->nr_rows = c->rows.nr;
	h->history->nr_runs = c->runs.nr;
	h->history->values =
		calloc(h->nr_rows * c->runs.nr + 1, sizeof(*h->history->values));
	h->rows = calloc(h->nr_rows + 1, sizeof(*h->rows));
	h->variations = calloc(h->nr_rows + 1, sizeof(*h->variations));
	h->common = calloc(c->runs.nr, sizeof(*h->common));
	return h->history->values && h->rows && h->variations && h->common ? 0
									   : -ENOMEM;
}

/* Finds the design effect of each row: the variance of its samples, divided by the variance of
 * independent samples. */
static int history_find_effects(struct history_search *h)
{
	const struct variation_input in = { h->sums.runs, h->c->runs.nr, h->sums.rows,
					    h->sums.nr_rows, h->c->options.is_rate };
	const struct variation_input total = { h->sums.runs, h->c->runs.nr,
					       h->sums.totals, 1, true };
	struct usual_variation usual;
	int r = variation_estimate(&in, h->variations, &usual);

	if (!r && h->c->options.is_rate)
		r = variation_estimate(&total, &h->variations[h->sums.nr_rows], &usual);
	return r;
}

static void history_set_values(struct history_search *h)
{
	h->whole = 1;
	if (h->c->options.is_rate)
		h->whole = h->sums.totals[0].count / run_total(h, 0);
	for (size_t i = 0; i < h->nr_rows; i++) {
		const struct count_sums *sums = history_sums(h, i);

		for (size_t run = 0; run < h->c->runs.nr; run++)
			row_values(h, i)[run] =
				100 * sums[run].count / run_total(h, run) / h->whole;
	}
}

static double row_mean(const struct history_search *h, size_t row)
{
	double sum = 0;

	for (size_t run = 0; run < h->c->runs.nr; run++)
		sum += row_values(h, row)[run];
	return sum / (double)h->c->runs.nr;
}

/* Finds for each run the factor between the values of unchanged rows and their means (common.h). */
static int history_find_common(struct history_search *h)
{
	struct row_ratio *ratios = calloc(h->nr_rows + 1, sizeof(*ratios));

	if (!ratios)
		return -ENOMEM;
	for (size_t run = 0; run < h->c->runs.nr; run++) {
		size_t nr = 0;

		for (size_t i = 0; i < h->nr_rows; i++) {
			const double mean = row_mean(h, i);

			if (mean / 100 * h->c->runs.at[run].samples < COMMON_COUNT)
				continue;
			ratios[nr++] = (struct row_ratio){
				.ratio = row_values(h, i)[run] / mean,
				.share = mean / 100,
			};
		}
		h->common[run] = common_factor(ratios, nr);
	}
	free(ratios);
	return 0;
}

static bool history_is_tested(const struct history_search *h, size_t row)
{
	for (size_t run = 0; run < h->c->runs.nr; run++) {
		const double count = history_sums(h, row)[run].count;

		if (count >= TEST_COUNT &&
		    count >= history_test_share * h->c->runs.at[run].samples)
			return true;
	}
	return false;
}

/* Finds the change points in the series of a row. */
static int history_test_row(struct history_search *h, size_t row)
{
	const struct comparison_options *o = &h->c->options;
	const size_t nr = h->c->runs.nr;
	struct history_row *to = &h->rows[row];

	to->noise = calloc(nr, sizeof(*to->noise));
	to->relative = calloc(nr, sizeof(*to->relative));
	if (!to->noise || !to->relative)
		return -ENOMEM;
	for (size_t run = 0; run < nr; run++) {
		const double common = h->common[run];

		to->noise[run] =
			100 / h->whole * h->variations[row].design / run_total(h, run);
		to->relative[run] = row_values(h, row)[run] / (common > 0 ? common : 1);
	}
	to->series = (struct series){ row_values(h, row),
				      o->is_rate ? NULL : to->relative, to->noise, nr };
	h->history->nr_tested++;
	return change_points_find(&to->series, o->least_change, o->discovery,
				  &to->found);
}

typedef VEC(double) history_numbers;

/* Collects the p values of all changes, and one p value of each tested row without changes. Returns
 * false if memory runs out. */
static bool history_collect(const struct history_search *h, history_numbers *p)
{
	p->nr = 0;
	for (size_t i = 0; i < h->nr_rows; i++) {
		const struct change_points *found = &h->rows[i].found;

		if (!h->rows[i].noise)
			continue;
		for (size_t j = 0; j < found->points.nr; j++)
			if (!vec_push(p, found->points.at[j].p))
				return false;
		if (!found->points.nr && !vec_push(p, found->least_p))
			return false;
	}
	return true;
}

/* Returns the largest p value whose q value is at most `rate`, or 0. */
static double largest_accepted(const history_numbers *p, const history_numbers *q,
			       double rate)
{
	double largest = 0;

	for (size_t i = 0; i < p->nr; i++)
		if (q->at[i] <= rate)
			largest = fmax(largest, p->at[i]);
	return largest;
}

/* Drops points until all have p <= limit. Returns whether any were dropped. */
static bool history_prune(struct history_search *h, double limit)
{
	bool dropped = false;

	for (size_t i = 0; i < h->nr_rows; i++) {
		struct change_points *found = &h->rows[i].found;
		const size_t nr = found->points.nr;

		if (nr)
			change_points_prune(&h->rows[i].series,
					    h->c->options.least_change, limit, found);
		dropped |= found->points.nr < nr;
	}
	return dropped;
}

static double change_size(const struct history_change *change)
{
	return change->after - change->before;
}

/* Returns whether code can have moved between two functions: they changed at the same time, in the
 * same binary, in opposite directions. */
static bool can_move(const struct history_search *h, const struct history_change *from,
		     const struct history_change *to)
{
	return from->at == to->at && to->verdict != VERDICT_MOVED &&
	       h->c->rows.at[from->row].image == h->c->rows.at[to->row].image &&
	       (change_size(from) > 0) != (change_size(to) > 0);
}

/* Returns whether the code of a function only moved: `left`, the sum of its change and the opposite
 * changes, is small. */
static bool is_moved(const struct history_change *from, double left)
{
	return fabs(left) <= moved_rest * fabs(change_size(from));
}

/* Adds opposite changes, largest first, to that of a function that appeared or disappeared, until
 * its code counts as moved. Returns the remaining change. If `mark` is set, gives these opposite
 * changes the verdict `moved` and the remaining change `together`. */
static double history_follow(struct history_search *h,
			     const struct history_change *from, bool mark,
			     double together)
{
	double left = change_size(from);

	for (size_t i = 0; i < h->history->changes.nr && !is_moved(from, left); i++) {
		struct history_change *to = &h->history->changes.at[i];

		if (!can_move(h, from, to) ||
		    fabs(left + change_size(to)) >= fabs(left))
			continue;
		left += change_size(to);
		if (mark) {
			to->verdict = VERDICT_MOVED;
			to->together = together;
		}
	}
	return left;
}

/* Corrects the verdicts of functions whose code only moved. */
static void history_find_moves(struct history_search *h)
{
	for (size_t i = 0; i < h->history->changes.nr; i++) {
		struct history_change *from = &h->history->changes.at[i];
		double left;

		if (from->verdict != VERDICT_NEW && from->verdict != VERDICT_GONE)
			continue;
		left = history_follow(h, from, false, 0);
		if (!is_moved(from, left))
			continue;
		(void)history_follow(h, from, true, left);
		from->verdict = VERDICT_MOVED;
		from->together = left;
	}
}

static enum verdict change_verdict(const struct history_change *change)
{
	if (change->before <= 0)
		return VERDICT_NEW;
	if (change->after <= 0)
		return VERDICT_GONE;
	return change_size(change) > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
}

static bool history_add_row(struct history_search *h, size_t row, const double *q)
{
	const struct change_points *found = &h->rows[row].found;

	for (size_t i = 0; i < found->points.nr; i++) {
		const struct change_point *point = &found->points.at[i];
		struct history_change change = {
			.row = (uint32_t)row,
			.first = i ? point[-1].at : 0,
			.at = point->at,
			.end = i + 1 < found->points.nr ? point[1].at : h->c->runs.nr,
			.before = point->before,
			.after = point->after,
			.p = point->p,
			.q = q[i],
			.together = point->after - point->before,
		};

		change.verdict = change_verdict(&change);
		if (!vec_push(&h->history->changes, change))
			return false;
	}
	return true;
}

static int compare_history_changes(const void *a, const void *b)
{
	const struct history_change *one = a, *other = b;
	const double x = fabs(one->after - one->before);
	const double y = fabs(other->after - other->before);

	if (x != y)
		return x > y ? -1 : 1;
	if (one->row != other->row)
		return one->row < other->row ? -1 : 1;
	return (one->at > other->at) - (one->at < other->at);
}

/* Stores the remaining changes in h->history, sorted by size, and finds code that only moved. `q`
 * is in the order of history_collect(). Returns false if
 * memory runs out. */
static bool history_add_changes(struct history_search *h, const double *q)
{
	struct history *to = h->history;

	for (size_t i = 0; i < h->nr_rows; i++) {
		if (!h->rows[i].noise)
			continue;
		if (!history_add_row(h, i, q))
			return false;
		q += h->rows[i].found.points.nr ? h->rows[i].found.points.nr : 1;
	}
	if (to->changes.nr)
		qsort(to->changes.at, to->changes.nr, sizeof(*to->changes.at),
		      compare_history_changes);
	history_find_moves(h);
	return true;
}

static bool history_copy(const history_numbers *from, history_numbers *to)
{
	to->nr = 0;
	for (size_t i = 0; i < from->nr; i++)
		if (!vec_push(to, from->at[i]))
			return false;
	return true;
}

/* Controls the false-discovery rate over the changes of all rows.  A dropped point changes the
 * p values of those next to it, so this repeats until no point is dropped. */
static int history_decide(struct history_search *h)
{
	history_numbers p = { 0 }, q = { 0 };
	int r = 0;
	bool dropped;

	do {
		if (!history_collect(h, &p) || !history_copy(&p, &q)) {
			r = -ENOMEM;
			break;
		}
		r = discovery_adjust(q.at, q.nr);
		if (r)
			break;
		dropped = history_prune(
			h, largest_accepted(&p, &q, h->c->options.discovery));
	} while (dropped);
	if (!r && q.at && !history_add_changes(h, q.at))
		r = -ENOMEM;
	vec_done(&p);
	vec_done(&q);
	return r;
}

static void history_search_done(struct history_search *h)
{
	for (size_t i = 0; h->rows && i < h->nr_rows; i++) {
		free(h->rows[i].noise);
		free(h->rows[i].relative);
		change_points_done(&h->rows[i].found);
	}
	free(h->rows);
	free(h->variations);
	free(h->common);
	row_sums_done(&h->sums);
}

int history_find(struct comparison *c, struct history *ret)
{
	struct history_search h = { .c = c, .history = ret };
	int r;

	*ret = (struct history){ 0 };
	qsort_r(c->runs.at, c->runs.nr, sizeof(*c->runs.at), compare_run_starts, c);
	r = history_make_rows(&h);
	if (!r)
		r = history_find_effects(&h);
	if (!r) {
		history_set_values(&h);
		r = history_find_common(&h);
	}
	for (size_t i = 0; !r && i < h.nr_rows; i++)
		if (history_is_tested(&h, i))
			r = history_test_row(&h, i);
	if (!r)
		r = history_decide(&h);
	history_search_done(&h);
	return r;
}

void history_done(struct history *h)
{
	free(h->values);
	vec_done(&h->changes);
	*h = (struct history){ 0 };
}

bool history_is_last(const struct history *h, const struct history_change *change)
{
	return change->end == h->nr_runs;
}
