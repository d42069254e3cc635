/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/sort.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "base/containers/sort_keys.h"
#include "present/lines/lines.h"

struct sorting {
	struct profile *p;
	const struct report_lines *lines;
	const struct line_sorting *how;
	struct tie_keys before;
	struct tie_keys after;
	/* By group: a number for the sort keys before the samples (NULL: there are none), and one
	 * for those after them. */
	uint64_t *leads;
	uint64_t *ties;
};

static uint32_t event_rank(const struct sorting *s, const struct line *line)
{
	return s->p->events.at[s->p->rows.at[line->number].event].rank;
}

static int line_sort_compare_events(const struct sorting *s, const struct line *a,
				    const struct line *b)
{
	uint32_t rank_a;
	uint32_t rank_b;

	if (!s->how->rows)
		return 0;
	rank_a = event_rank(s, a);
	rank_b = event_rank(s, b);
	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

static uint64_t line_sort_samples_of(const struct sorting *s, const struct line *line)
{
	const uint64_t *inclusive = s->how->order->self ? NULL : s->lines->inclusive;

	return inclusive ? inclusive[line->number * s->lines->nr_columns]
			 : line->counts[0];
}

/* Compares inclusive samples if there are any; ties are decided by the function's own samples. */
static int compare_samples(const struct sorting *s, const struct line *a,
			   const struct line *b)
{
	uint64_t of_a = line_sort_samples_of(s, a);
	uint64_t of_b = line_sort_samples_of(s, b);

	if (of_a == of_b) {
		of_a = a->counts[0];
		of_b = b->counts[0];
	}
	return of_a > of_b ? -1 : of_a < of_b;
}

/* Compares two lines for qsort().  Used only if the keys have too many combinations for
 * sort_by_numbers(). */
static int line_sort_compare_lines(const void *va, const void *vb, void *ctx)
{
	const struct sorting *s = ctx;
	const struct line *a = va;
	const struct line *b = vb;
	int order = s->how->events_apart ? line_sort_compare_events(s, a, b) : 0;

	if (order)
		return order;
	order = ties_compare(s->p, &s->before, a->group, b->group);
	if (!order)
		order = compare_samples(s, a, b);
	if (!order)
		order = ties_compare(s->p, &s->after, a->group, b->group);
	if (!order)
		order = line_sort_compare_events(s, a, b);
	return s->how->reverse ? -order : order;
}

/* The sort criteria, least significant first. */
enum criterion {
	BY_EVENT,
	BY_TIE,
	BY_COUNT,
	BY_INCLUSIVE,
	BY_LEAD,
	BY_EVENT_FIRST,
	CRITERION_COUNT
};

static bool has_criterion(const struct sorting *s, enum criterion criterion)
{
	switch (criterion) {
	case BY_EVENT:
		return s->how->rows;
	case BY_INCLUSIVE:
		return s->lines->inclusive && !s->how->order->self;
	case BY_LEAD:
		return s->leads;
	case BY_EVENT_FIRST:
		return s->how->rows && s->how->events_apart;
	case BY_TIE:
	case BY_COUNT:
	case CRITERION_COUNT:
	default:
		return true;
	}
}

static uint64_t line_value(const struct sorting *s, const struct line *line,
			   enum criterion criterion)
{
	uint64_t back = s->how->reverse ? UINT64_MAX : 0;

	switch (criterion) {
	case BY_TIE:
		return s->ties[line->group] ^ back;
	case BY_COUNT:
		return line->counts[0] ^ ~back; /* largest first */
	case BY_INCLUSIVE:
		return line_sort_samples_of(s, line) ^ ~back;
	case BY_LEAD:
		return s->leads[line->group] ^ back;
	case BY_EVENT_FIRST:
		return event_rank(s, line);
	case BY_EVENT:
	case CRITERION_COUNT:
	default:
		return event_rank(s, line) ^ back;
	}
}

static int permute(struct report_lines *lines, const struct sort_key *keys)
{
	size_t nr = lines->all.nr;
	struct line *sorted = malloc(nr * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = lines->all.at[keys[i].index];
	free(lines->all.at);
	lines->all.at = sorted;
	lines->all.cap = nr;
	return 0;
}

/* Sorts with numeric keys only: one stable sort per criterion. */
static int sort_by_numbers(struct report_lines *lines, const struct sorting *s)
{
	size_t nr = lines->all.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		keys[i].index = (uint32_t)i;
	for (int c = 0; !r && nr && c < CRITERION_COUNT; c++) {
		if (!has_criterion(s, (enum criterion)c))
			continue;
		for (size_t i = 0; i < nr; i++)
			keys[i].at = line_value(s, &lines->all.at[keys[i].index],
						(enum criterion)c);
		r = sort_keys(&keys, nr);
	}
	if (!r && nr)
		r = permute(lines, keys);
	free(keys);
	return r;
}

/* Ranks the groups by one list of keys.  Returns 0, -ENOMEM or -E2BIG, as ties_make() does. */
static int rank_groups(struct profile *p, const struct tie_keys *keys,
		       uint64_t **ret_numbers)
{
	*ret_numbers = malloc((p->groups.nr + 1) * sizeof(**ret_numbers));
	return *ret_numbers ? ties_make(p, keys, *ret_numbers) : -ENOMEM;
}

int lines_sort(struct profile *p, const struct line_sorting *how,
	       struct report_lines *lines)
{
	struct sorting s = { .p = p, .lines = lines, .how = how };
	int r;

	if (how->usual == LINES_UNSORTED)
		return 0;
	order_resolve(how->order, how->usual, how->without, p, &s.before, &s.after);
	r = rank_groups(p, &s.after, &s.ties);
	if (!r && s.before.nr)
		r = rank_groups(p, &s.before, &s.leads);
	if (!r)
		r = sort_by_numbers(lines, &s);
	free(s.ties);
	free(s.leads);
	if (r == -E2BIG) {
		if (lines->all.nr)
			qsort_r(lines->all.at, lines->all.nr, sizeof(*lines->all.at),
				line_sort_compare_lines, &s);
		r = 0;
	}
	return r;
}
