/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/shifts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare/comparison.h"
#include "compare/rows.h"
#include "compare/student.h"

enum {
	SPANS = 10,           /* a run is divided into this many spans of time */
	TRANSIENT_COUNT = 50, /* minimum number of samples of a row, on either side */
	PARTNERS_MAX = 8
};

/* A group explains a change if at most this fraction of the change remains. */
static const double most_left = 0.35;
/* Score from which on a change would be significant if samples were independent. */
static const double least_score = 4;
/* A change is transient if at least this fraction of it is in one or two adjacent spans ... */
static const double least_in_window = 0.8;
/* ... and, on the other side, at most this fraction of the row's samples is in these spans. */
static const double most_usual = 0.5;

static bool appears(const struct compare_row *row)
{
	return row->verdict == VERDICT_NEW || row->verdict == VERDICT_GONE;
}

/* Returns whether code can move from one of two rows to the other: they are in the same binary, or
 * have the same parent in a tree. */
static bool can_exchange(const struct comparison *c, const struct compare_row *row,
			 const struct compare_row *other)
{
	return c->options.is_tree ? row->parent == other->parent
				  : row->image == other->image;
}

/* Returns whether samples could have moved between the two rows: one grew, the other shrank, and
 * one of them appeared or disappeared. */
static bool is_partner(const struct comparison *c, const struct compare_row *row,
		       const struct compare_row *other)
{
	return other != row && other->move == DICT_NONE &&
	       other->verdict != VERDICT_NOISE && can_exchange(c, row, other) &&
	       (other->change > 0) != (row->change > 0) &&
	       (appears(row) || appears(other));
}

/* Returns whether the row includes the samples of callees, and is on both sides. Its change can be
 * that of a callee, so it is the second choice to explain moved code. */
static bool is_second(const struct comparison *c, const struct compare_row *row)
{
	return (size_t)(row - c->rows.at) >= c->nr_disjoint && !appears(row);
}

/* Returns the partner whose change cancels most of the change of `row`, or NULL if too much always
 * remains. Considers only rows for which is_second() returns `second`. */
static struct compare_row *find_partner(struct comparison *c,
					const struct compare_row *row, bool second)
{
	double least = most_left * fabs(row->change);
	struct compare_row *best = NULL;

	for (size_t i = 0; i < c->rows.nr; i++) {
		struct compare_row *other = &c->rows.at[i];
		const double left = fabs(row->change + other->change);

		if (is_second(c, other) == second && left <= least &&
		    is_partner(c, row, other)) {
			least = left;
			best = other;
		}
	}
	return best;
}

/* Returns the row with the largest change that reduces `left`, the change that remains so far. The
 * first `nr` partners are excluded. Returns NULL if no row reduces it. */
static struct compare_row *find_next_partner(struct comparison *c,
					     const struct compare_row *row, double left,
					     struct compare_row *const *partners,
					     size_t nr)
{
	struct compare_row *best = NULL;

	for (size_t i = 0; i < c->rows.nr; i++) {
		struct compare_row *other = &c->rows.at[i];
		bool used = false;

		for (size_t j = 0; j < nr; j++)
			used |= partners[j] == other;
		if (!used && is_partner(c, row, other) &&
		    fabs(left + other->change) < fabs(left) &&
		    (!best || fabs(other->change) > fabs(best->change)))
			best = other;
	}
	return best;
}

/* Finds rows whose changes cancel most of the change of `row`: if possible, a single row. Returns
 * their number, or 0 if there are none. */
static size_t find_partners(struct comparison *c, const struct compare_row *row,
			    struct compare_row *partners[PARTNERS_MAX])
{
	double left = row->change;
	size_t nr = 0;

	partners[0] = find_partner(c, row, false);
	if (!partners[0])
		partners[0] = find_partner(c, row, true);
	if (partners[0])
		return 1;
	while (nr < PARTNERS_MAX) {
		struct compare_row *next =
			find_next_partner(c, row, left, partners, nr);

		if (!next)
			break;
		left += next->change;
		partners[nr++] = next;
	}
	return fabs(left) <= most_left * fabs(row->change) ? nr : 0;
}

static int compare_largest(const void *a, const void *b, void *ctx)
{
	const struct compare_row *one = *(struct compare_row *const *)a;
	const struct compare_row *other = *(struct compare_row *const *)b;

	if (is_second(ctx, one) != is_second(ctx, other))
		return is_second(ctx, one) ? 1 : -1;
	if (fabs(one->change) != fabs(other->change))
		return fabs(one->change) > fabs(other->change) ? -1 : 1;
	return (one > other) - (one < other);
}

/* Adds groups of changed rows to c->moves. The rows with the largest changes choose first. */
static int make_groups(struct comparison *c)
{
	struct compare_row **order = calloc(c->rows.nr + 1, sizeof(*order));
	struct compare_row *partners[PARTNERS_MAX];
	size_t nr = 0;
	int r = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < c->rows.nr; i++)
		if (c->rows.at[i].verdict != VERDICT_NOISE)
			order[nr++] = &c->rows.at[i];
	qsort_r(order, nr, sizeof(*order), compare_largest, c);
	for (size_t i = 0; !r && i < nr; i++) {
		const uint32_t number = (uint32_t)c->moves.nr;
		size_t nr_partners = 0;

		if (order[i]->move == DICT_NONE)
			nr_partners = find_partners(c, order[i], partners);
		if (!nr_partners)
			continue;
		order[i]->move = number;
		for (size_t j = 0; j < nr_partners; j++)
			partners[j]->move = number;
		r = vec_push(&c->moves, (struct compare_move){ 0 }) ? 0 : -ENOMEM;
	}
	free(order);
	return r;
}

/* Estimates the change of a group, with the variance that is usual for its size. */
static void set_move(const struct comparison *c, const struct row_variation *v,
		     double whole, struct compare_move *move)
{
	const struct side_estimate *from = &v->sides[SIDE_BASE];
	const struct side_estimate *to = &v->sides[SIDE_NEW];
	const double margin = c->options.least_change / 100 * whole;
	const struct limits l = difference_limits(
		from, to, student_critical(1 - c->options.confidence, v->df));

	move->change = 100 * (to->value - from->value) / whole;
	move->interval = (struct limits){ 100 * l.low / whole, 100 * l.high / whole };
	move->p = student_two_sided(difference_score(from, to, margin), v->df);
}

/* Sets the verdict `moved` for the rows of groups, except for rows that grew in a group that became
 * slower as a whole. */
static void set_moved_verdicts(struct comparison *c)
{
	for (size_t i = 0; i < c->rows.nr; i++) {
		struct compare_row *row = &c->rows.at[i];
		const struct compare_move *move;

		if (row->move == DICT_NONE)
			continue;
		move = &c->moves.at[row->move];
		if (row->change < 0 || move->change <= 0 ||
		    move->p > c->options.discovery)
			row->verdict = VERDICT_MOVED;
	}
}

/* Sets the verdict `moved` for callees that appeared or disappeared together with a caller that
 * only moved. */
static void set_moved_callees(struct comparison *c)
{
	for (size_t i = 1; i < c->nodes.nr; i++) {
		const struct compare_node *node = &c->nodes.at[i];
		const uint32_t caller = c->nodes.at[node->caller].row;
		struct compare_row *row = &c->rows.at[node->row];

		if (caller == DICT_NONE ||
		    c->rows.at[caller].verdict != VERDICT_MOVED || !appears(row))
			continue;
		if (c->rows.at[caller].count[SIDE_BASE] <= 0 ||
		    c->rows.at[caller].count[SIDE_NEW] <= 0)
			row->verdict = VERDICT_MOVED;
	}
}

static int test_groups(struct comparison *c, const struct row_sums *sums, double whole)
{
	const size_t nr = c->moves.nr;
	/* The last element is for the rows without a group. */
	struct count_sums *of_groups =
		calloc((nr + 1) * c->runs.nr, sizeof(*of_groups));
	struct row_variation *variations = calloc(nr + 1, sizeof(*variations));
	const struct variation_input in = { sums->runs, c->runs.nr, of_groups, nr,
					    c->options.is_rate };
	int r = of_groups && variations ? rows_sum_groups(c, sums, of_groups) : -ENOMEM;

	if (!r)
		r = variation_estimate_like(&in, variations, &c->usual);
	for (size_t i = 0; !r && i < nr; i++)
		set_move(c, &variations[i], whole, &c->moves.at[i]);
	if (!r) {
		set_moved_verdicts(c);
		set_moved_callees(c);
	}
	free(of_groups);
	free(variations);
	return r;
}

/* Samples of a row in the spans of a run, and the denominators of the spans. */
struct span_counts {
	double count[SPANS];
	double total[SPANS];
};

static size_t span_of(const struct compare_run *run, size_t block)
{
	return run->blocks.nr ? block * SPANS / run->blocks.nr : 0;
}

static void count_spans(const struct compare_run *run, const uint32_t *row_of,
			uint32_t row, struct span_counts *to)
{
	*to = (struct span_counts){ 0 };
	for (size_t i = 0; i < run->blocks.nr; i++)
		to->total[span_of(run, i)] += run->blocks.at[i];
	for (size_t i = 0; i < run->cells.nr; i++) {
		const struct run_cell *cell = &run->cells.at[i];

		if (row_of[cell->item] == row)
			to->count[span_of(run, cell->block)] += cell->count;
	}
}

/* The window, of one or two adjacent spans, in which the samples of a row exceed the other side's
 * share most. */
struct shift_window {
	double all;   /* change in all spans of all runs */
	double most;  /* change in the window */
	size_t first; /* its first span */
};

static void look_at_run(const struct span_counts *spans, double usual,
			struct shift_window *w)
{
	for (size_t i = 0; i < SPANS; i++) {
		const double change = spans->count[i] - usual * spans->total[i];
		const double next = i + 1 < SPANS ? spans->count[i + 1] -
							    usual * spans->total[i + 1]
						  : 0;

		w->all += change;
		if (change + fmax(next, 0) > w->most) {
			w->most = change + fmax(next, 0);
			w->first = i;
		}
	}
}

/* Returns the fraction of a row's samples on a side that are in the spans `first` and first + 1, or
 * 1 if there are none. */
static double usual_part(const struct comparison *c, const struct row_sums *sums,
			 uint32_t row, enum compare_side side, size_t first)
{
	double inside = 0, all = 0;

	for (size_t i = 0; i < c->runs.nr; i++) {
		struct span_counts spans;

		if (c->runs.at[i].side != side)
			continue;
		count_spans(&c->runs.at[i], sums->row_of[i], row, &spans);
		for (size_t s = 0; s < SPANS; s++) {
			all += spans.count[s];
			inside += s == first || s == first + 1 ? spans.count[s] : 0;
		}
	}
	return all > 0 ? inside / all : 1;
}

static bool is_transient(const struct comparison *c, const struct row_sums *sums,
			 uint32_t number)
{
	const struct compare_row *row = &c->rows.at[number];
	const enum compare_side side = row->change > 0 ? SIDE_NEW : SIDE_BASE;
	const enum compare_side other = side == SIDE_NEW ? SIDE_BASE : SIDE_NEW;
	const double usual = row->variation.sides[other].value;
	struct shift_window w = { 0 };

	for (size_t i = 0; i < c->runs.nr; i++) {
		struct span_counts spans;

		if (c->runs.at[i].side != side)
			continue;
		/* A run without times has too few blocks, so the change cannot be located in
		 * time. */
		if (c->runs.at[i].blocks.nr < 2 * SPANS)
			return false;
		count_spans(&c->runs.at[i], sums->row_of[i], number, &spans);
		look_at_run(&spans, usual, &w);
	}
	return w.all > 0 && w.most >= least_in_window * w.all &&
	       usual_part(c, sums, number, other, w.first) <= most_usual;
}

/* Returns whether a row has enough samples, and its change would be significant if the samples
 * were independent. */
static bool exceeds_sampling(const struct compare_row *row)
{
	struct side_estimate sides[COMPARE_SIDES];

	if (fmax(row->count[SIDE_BASE], row->count[SIDE_NEW]) < TRANSIENT_COUNT)
		return false;
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		sides[side] = row->variation.sides[side];
		sides[side].linear /= row->variation.scale * row->variation.design;
		sides[side].square = 0;
	}
	return difference_exceeds(&sides[SIDE_BASE], &sides[SIDE_NEW], 0, least_score);
}

int shifts_find(struct comparison *c, const struct row_sums *sums, double whole)
{
	int r = make_groups(c);

	if (!r && c->moves.nr)
		r = test_groups(c, sums, whole);
	for (uint32_t i = 0; !r && i < c->rows.nr; i++) {
		struct compare_row *row = &c->rows.at[i];

		if (row->verdict == VERDICT_NOISE && exceeds_sampling(row) &&
		    is_transient(c, sums, i))
			row->verdict = VERDICT_TRANSIENT;
	}
	return r;
}
