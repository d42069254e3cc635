/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/diff/decide.h"

#include <stdio.h>
#include <stdlib.h>

#include "compare/comparison.h"
#include "compare/history.h"
#include "present/diff/history.h"
#include "present/diff/rows.h"
#include "tools/cli/command.h"

/* Returns whether a row is significantly slower by at least `limit`. If code was moved between
 * functions, the change of all of them together counts. */
static bool is_regression(const struct comparison *c, const struct compare_row *row,
			  double limit)
{
	const double change =
		row->move == DICT_NONE ? row->change : c->moves.at[row->move].change;

	return (row->verdict == VERDICT_SLOWER || row->verdict == VERDICT_NEW) &&
	       change >= limit;
}

/* Prints the decision and a row to standard error, to keep it out of --csv and --json output. */
static void say_row(const struct diff_view *v, const struct compare_row *row,
		    const char *prefix)
{
	const char *symbol = diff_symbol(v, row);

	command_error("%s %s%s%s %+.2f points (%g %% interval %+.2f .. %+.2f)", prefix,
		      diff_image(v, row), *symbol ? ": " : "", symbol, row->change,
		      100 * v->comparison->options.confidence, row->interval.low,
		      row->interval.high);
}

bool diff_decide(const struct diff_view *v, double limit)
{
	const struct comparison *c = v->comparison;
	const struct compare_row *worst = NULL, *largest = NULL;
	char prefix[96];

	if (c->options.is_rate && is_regression(c, &c->total, limit))
		worst = &c->total;
	/* The rows are sorted by the size of the change, the largest first. */
	for (size_t i = 0; i < c->rows.nr; i++) {
		const struct compare_row *row = &c->rows.at[i];

		if (!worst && is_regression(c, row, limit))
			worst = row;
		if (!largest && row->change > 0)
			largest = row;
	}
	if (worst) {
		snprintf(prefix, sizeof(prefix),
			 "failed: significantly slower by at least %g points:", limit);
		say_row(v, worst, prefix);
		return true;
	}
	snprintf(prefix, sizeof(prefix),
		 "passed: no significant slowdown of at least %g points", limit);
	if (!largest) {
		command_error("%s", prefix);
		return false;
	}
	snprintf(
		prefix, sizeof(prefix),
		"passed: no significant slowdown of at least %g points; largest increase (%s):",
		limit, verdict_name(largest->verdict));
	say_row(v, largest, prefix);
	return false;
}

bool diff_decide_history(const struct history_view *v, double limit)
{
	const struct history *h = v->history;

	/* The largest change is first. */
	for (size_t i = 0; i < h->changes.nr; i++) {
		const struct history_change *change = &h->changes.at[i];
		const struct compare_row *row =
			&v->diff.comparison->rows.at[change->row];
		const char *symbol = diff_symbol(&v->diff, row);

		if (!history_is_last(h, change) || change->after <= change->before ||
		    change->together < limit)
			continue;
		command_error(
			"failed: significantly slower by at least %g points since '%s': %s%s%s %+.2f points (%.2f %% to %.2f %%)",
			limit, history_run_name(v, change->at),
			diff_image(&v->diff, row), *symbol ? ": " : "", symbol,
			change->after - change->before, change->before, change->after);
		return true;
	}
	command_error(
		"passed: no significant slowdown of at least %g points up to the newest recording",
		limit);
	return false;
}
