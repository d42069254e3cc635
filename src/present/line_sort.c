#include "present/line_sort.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile.h"
#include "present/lines.h"
#include "resolve/sort_keys.h"

struct sorting {
	struct profile *p;
	const struct line_sorting *how;
	struct tie_keys before;
	struct tie_keys after;
};

static int compare_events(const struct profile *p, const struct line *a,
			  const struct line *b)
{
	uint32_t rank_a = p->events.at[a->event].rank;
	uint32_t rank_b = p->events.at[b->event].rank;

	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

/* Only where the keys have too many combinations for numbers. */
static int compare_lines(const void *va, const void *vb, void *ctx)
{
	const struct sorting *s = ctx;
	const struct line *a = va;
	const struct line *b = vb;
	int order;

	if (s->how->events_apart && a->event != b->event)
		return compare_events(s->p, a, b);
	order = ties_compare(s->p, &s->before, a->group, b->group);
	if (!order && a->first != b->first)
		order = a->first > b->first ? -1 : 1;
	if (!order)
		order = ties_compare(s->p, &s->after, a->group, b->group);
	if (!order && a->event != b->event)
		order = compare_events(s->p, a, b);
	return s->how->reverse ? -order : order;
}

/* What lines are ordered by, the least first. */
enum criterion {
	BY_EVENT,
	BY_TIE,
	BY_COUNT,
	BY_LEAD,
	BY_EVENT_FIRST,
	CRITERION_COUNT
};

static uint64_t line_value(const struct sorting *s, const struct line *line,
			   enum criterion criterion)
{
	uint64_t back = s->how->reverse ? UINT64_MAX : 0;
	uint64_t rank = s->p->events.at[line->event].rank;

	switch (criterion) {
	case BY_TIE:
		return line->tie ^ back;
	case BY_COUNT:
		return line->first ^ ~back; /* the largest first */
	case BY_LEAD:
		return line->lead ^ back;
	case BY_EVENT_FIRST:
		return s->how->events_apart ? rank : 0;
	case BY_EVENT:
	case CRITERION_COUNT:
	default:
		return rank ^ back;
	}
}

static int permute(struct lines *lines, const struct sort_key *keys)
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

/* By numbers alone: a stable sort by each criterion in turn. */
static int sort_by_numbers(struct lines *lines, const struct sorting *s)
{
	size_t nr = lines->all.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r = 0;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		keys[i].index = (uint32_t)i;
	for (int c = 0; !r && nr && c < CRITERION_COUNT; c++) {
		if (c == BY_LEAD && !s->before.nr)
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

/* The numbers that lines are compared by.  0, -ENOMEM or -E2BIG, as of ties_make(). */
static int rank_lines(struct lines *lines, struct sorting *s)
{
	uint64_t *ties = calloc(s->p->nr_groups + 1, sizeof(*ties));
	int r;

	if (!ties)
		return -ENOMEM;
	r = ties_make(s->p, &s->after, ties);
	for (size_t i = 0; !r && i < lines->all.nr; i++)
		lines->all.at[i].tie = ties[lines->all.at[i].group];
	if (!r && s->before.nr)
		r = ties_make(s->p, &s->before, ties);
	for (size_t i = 0; !r && s->before.nr && i < lines->all.nr; i++)
		lines->all.at[i].lead = ties[lines->all.at[i].group];
	free(ties);
	return r;
}

int lines_sort(struct profile *p, const struct line_sorting *how, struct lines *lines)
{
	struct sorting s = { .p = p, .how = how };
	int r;

	if (how->usual == LINES_UNSORTED)
		return 0;
	order_resolve(how->order, how->usual, how->without, p, &s.before, &s.after);
	for (size_t i = 0; i < lines->all.nr; i++)
		lines->all.at[i].first = lines->all.at[i].counts[0];
	r = rank_lines(lines, &s);
	if (!r)
		return sort_by_numbers(lines, &s);
	if (r != -E2BIG)
		return r;
	if (lines->all.nr)
		qsort_r(lines->all.at, lines->all.nr, sizeof(*lines->all.at),
			compare_lines, &s);
	return 0;
}
