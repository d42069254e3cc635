/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history.h - finds the rows that changed in a series of runs, and when.
 * Layer: compare.  docs/diff.md explains the method.
 * The runs are those of a comparison, all on the side SIDE_NEW. The values of a row in all runs are
 * a series, in which change_points.h finds the changes. The false-discovery rate is controlled over
 * all rows. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "compare/comparison.h"

struct history_change {
	uint32_t row;          /* index in comparison.rows */
	size_t first, at, end; /* runs [first, at) are before it, [at, end) after it */
	double before, after;  /* mean values of these runs */
	double p;
	double q; /* lowest false-discovery rate at which it counts as a change */
	/* If the code only moved between functions: the remaining change of all of them, added up.
	 * Otherwise after - before. */
	double together;
	enum verdict verdict;
};

struct history {
	/* One value for each row and run: all runs of row 0, then all runs of row 1, and so on.
	 * Shares are in percent of the run's total, rates in percent of the first run's total. */
	double *values;
	size_t nr_runs;
	size_t nr_tested;                   /* rows */
	VEC(struct history_change) changes; /* largest first */
};

enum {
	HISTORY_RUNS = 4 /* fewer runs cannot show a change */
};

/* Sorts the runs by the start of their recordings, makes the rows, and finds the changes.  Needs
 * HISTORY_RUNS runs with samples.  If values are rates, the last row is the total.  Returns 0 or
 * -ENOMEM; call history_done() in any case. */
int history_find(struct comparison *c, struct history *ret);
void history_done(struct history *h);
/* Returns whether the change lasts until the newest run: no other change of its row follows. */
bool history_is_last(const struct history *h, const struct history_change *change);
