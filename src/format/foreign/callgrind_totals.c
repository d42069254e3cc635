/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/callgrind_totals.h"

enum {
	SUMMARY_SHARE = 100 /* a summary may differ from the costs by 1/SUMMARY_SHARE */
};

static bool callgrind_is_near(const struct callgrind_sums *stated,
			      const struct callgrind_sums *found, uint64_t slack,
			      uint64_t share)
{
	for (size_t i = 0; i < stated->nr || i < found->nr; i++) {
		const uint64_t a = stated->by_event[i];
		const uint64_t b = found->by_event[i];
		const uint64_t most = slack + (share ? b / share : 0);

		if ((a > b ? a - b : b - a) > most)
			return false;
	}
	return true;
}

/* Counts stated sums as wrong if they match neither the part nor the file so far: some writers
 * state the latter. */
static void callgrind_compare(struct callgrind_totals *t,
			      const struct callgrind_sums *stated, uint64_t slack,
			      uint64_t share)
{
	t->nr_wrong += !callgrind_is_near(stated, &t->part, slack, share) &&
		       !callgrind_is_near(stated, &t->whole, slack, share);
}

void callgrind_totals_end_part(struct callgrind_totals *t)
{
	/* Callgrind's summary can miss the costs of some last instructions, and other writers
	 * round every line. */
	if (t->has_summary && !t->has_totals)
		callgrind_compare(t, &t->summary, t->nr_lines, SUMMARY_SHARE);
	t->has_summary = t->has_totals = false;
	t->part = (struct callgrind_sums){ 0 };
	t->nr_lines = 0;
}

void callgrind_totals_change_events(struct callgrind_totals *t)
{
	t->whole = (struct callgrind_sums){ 0 };
}

void callgrind_totals_add(struct callgrind_totals *t, const uint64_t *costs, size_t nr)
{
	t->nr_lines++;
	t->part.nr = t->whole.nr = nr;
	/* Sums can overflow here: the caller adds the same costs, and reports the overflow. */
	for (size_t i = 0; i < nr; i++) {
		t->part.by_event[i] += costs[i];
		t->whole.by_event[i] += costs[i];
	}
}

void callgrind_totals_summary(struct callgrind_totals *t,
			      const struct callgrind_sums *sums)
{
	t->summary = *sums;
	t->has_summary = true;
}

void callgrind_totals_check(struct callgrind_totals *t,
			    const struct callgrind_sums *sums)
{
	callgrind_compare(t, sums, t->is_exact ? 0 : t->nr_lines, 0);
	t->has_totals = true;
}
