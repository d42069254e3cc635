#include "present/lines.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile.h"
#include "present/columns.h"
#include "present/percent.h"
#include "present/writers.h"
#include "resolve/sort_keys.h"

struct sorting {
	struct profile *p;
	enum line_order order;
	bool reverse;
	bool events_apart;
};

/* Events with samples, by rank. */
static int collect_events(const struct profile *p, struct lines *lines)
{
	for (uint32_t rank = 0; rank < p->events.nr; rank++) {
		for (uint32_t e = 0; e < p->events.nr; e++) {
			if (p->events.at[e].rank != rank || !p->events.at[e].samples)
				continue;
			if (!vec_push(&lines->events, e))
				return -ENOMEM;
		}
	}
	lines->totals = calloc(lines->events.nr + 1, sizeof(*lines->totals));
	if (!lines->totals)
		return -ENOMEM;
	for (size_t i = 0; i < lines->events.nr; i++)
		lines->totals[i] = p->events.at[lines->events.at[i]].samples;
	return 0;
}

/* By all keys in order: only where they have too many combinations for ties.h. */
static int compare_keys(struct profile *p, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < p->nr_keys; k++) {
		const struct column *c =
			column_of_key(p->options.keys->keys.at[k].row->id);
		int order = c ? c->sort(p, a, b, k) : 0;

		if (order)
			return order;
	}
	return 0;
}

static int compare_events(const struct profile *p, const struct line *a,
			  const struct line *b)
{
	uint32_t rank_a = p->events.at[a->event].rank;
	uint32_t rank_b = p->events.at[b->event].rank;

	return rank_a < rank_b ? -1 : rank_a > rank_b;
}

/* Only where there are no ties to compare. */
static int compare_lines(const void *va, const void *vb, void *ctx)
{
	const struct sorting *s = ctx;
	const struct line *a = va;
	const struct line *b = vb;
	int order = 0;

	if (s->events_apart && a->event != b->event)
		return compare_events(s->p, a, b);
	if (a->first != b->first)
		order = a->first > b->first ? -1 : 1;
	else
		order = compare_keys(s->p, a->group, b->group);
	if (!order && a->event != b->event)
		order = compare_events(s->p, a, b);
	return s->reverse ? -order : order;
}

/* What lines are ordered by, the least first. */
enum criterion {
	BY_EVENT,
	BY_TIE,
	BY_COUNT,
	BY_EVENT_FIRST,
	CRITERION_COUNT
};

static uint64_t line_value(const struct sorting *s, const struct line *line,
			   enum criterion criterion)
{
	uint64_t back = s->reverse ? UINT64_MAX : 0;
	uint64_t rank = s->p->events.at[line->event].rank;

	switch (criterion) {
	case BY_TIE:
		return line->tie ^ back;
	case BY_COUNT:
		return line->first ^ ~back; /* the largest first */
	case BY_EVENT_FIRST:
		return s->events_apart ? rank : 0;
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

static int sort_lines(struct lines *lines, struct sorting *s)
{
	uint64_t *ties = calloc(s->p->nr_groups + 1, sizeof(*ties));
	int r;

	if (!ties)
		return -ENOMEM;
	r = ties_make(s->p, s->order, ties);
	for (size_t i = 0; i < lines->all.nr; i++) {
		struct line *line = &lines->all.at[i];

		line->first = line->counts[0];
		line->tie = r ? 0 : ties[line->group];
	}
	free(ties);
	if (!r)
		return sort_by_numbers(lines, s);
	if (r != -E2BIG)
		return r;
	if (lines->all.nr)
		qsort_r(lines->all.at, lines->all.nr, sizeof(*lines->all.at),
			compare_lines, s);
	return 0;
}

/* Position of each event of the profile; the array is the caller's. */
static size_t *event_positions(const struct profile *p, const struct lines *lines)
{
	size_t *positions = calloc(p->events.nr + 1, sizeof(*positions));

	for (size_t i = 0; positions && i < lines->events.nr; i++)
		positions[lines->events.at[i]] = i;
	return positions;
}

static int fill_groups(struct profile *p, const struct present_options *o,
		       struct lines *lines)
{
	size_t nr_events = lines->events.nr;
	size_t *positions = event_positions(p, lines);
	int r = 0;

	lines->counts = calloc(p->nr_groups * nr_events + 1, sizeof(*lines->counts));
	if (!positions || !lines->counts)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];

		lines->counts[row->group * nr_events + positions[row->event]] +=
			row->samples;
	}
	for (uint32_t g = 0; !r && g < p->nr_groups; g++) {
		struct line line = { .group = g,
				     .counts = &lines->counts[g * nr_events] };

		if (percent_of(line.counts[0], lines->totals[0]) < o->threshold)
			continue;
		if (!vec_push(&lines->all, line))
			r = -ENOMEM;
	}
	free(positions);
	return r;
}

int lines_of_groups(struct profile *p, const struct present_options *options,
		    enum line_order order, struct lines *lines)
{
	struct sorting s = { .p = p, .order = order, .reverse = options->reverse };

	*lines = (struct lines){ 0 };
	if (collect_events(p, lines) || fill_groups(p, options, lines) ||
	    sort_lines(lines, &s)) {
		lines_done(lines);
		return -ENOMEM;
	}
	return 0;
}

static int fill_rows(struct profile *p, const struct present_options *o,
		     struct lines *lines)
{
	lines->counts = calloc(p->rows.nr + 1, sizeof(*lines->counts));
	if (!lines->counts)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		struct line line = { .group = row->group,
				     .event = row->event,
				     .period = row->period,
				     .counts = &lines->counts[i] };

		lines->counts[i] = row->samples;
		if (percent_of(row->samples, p->events.at[row->event].samples) <
		    o->threshold)
			continue;
		if (!vec_push(&lines->all, line))
			return -ENOMEM;
	}
	return 0;
}

int lines_of_rows(struct profile *p, const struct present_options *options,
		  bool events_apart, struct lines *lines)
{
	struct sorting s = { .p = p,
			     .reverse = options->reverse,
			     .events_apart = events_apart };

	*lines = (struct lines){ 0 };
	if (collect_events(p, lines) || fill_rows(p, options, lines) ||
	    sort_lines(lines, &s)) {
		lines_done(lines);
		return -ENOMEM;
	}
	return 0;
}

void lines_done(struct lines *lines)
{
	vec_done(&lines->all);
	vec_done(&lines->events);
	free(lines->totals);
	free(lines->counts);
	*lines = (struct lines){ 0 };
}
