/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "present/lines/confidence.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/sort.h"

/* Numbers the lines: groups that are equal except for the keys `without` share a line. */
struct numbering {
	struct profile *p;
	unsigned int without;
	/* By tuple: a number that is shared by all tuples that are equal except for the keys
	 * `without`.  NULL: all tuples are different. */
	uint32_t *alike[GROUP_SIDES];
	struct map by; /* (number of the "who", number of the "where") -> line */
	uint32_t last[GROUP_SIDES];
	VEC(uint32_t) groups; /* the first group of each line */
};

/* Sets the masks of a side: 0 for ignored keys.  Returns true if any key is ignored. */
static bool mask_values(const struct numbering *n, unsigned int side,
			uint64_t masks[KEY_ID_COUNT])
{
	const struct profile *p = n->p;
	bool any = false;

	for (size_t k = 0; k < p->nr_keys; k++) {
		bool out = n->without & 1u << p->options.keys->keys.at[k].row->id;

		if (p->key_slots[k].side != side)
			continue;
		masks[p->key_slots[k].at] = out ? 0 : UINT64_MAX;
		any |= out;
	}
	return any;
}

/* Numbers the tuples of a side.  There are fewer tuples than groups. */
static int number_tuples(struct numbering *n, unsigned int side)
{
	const struct tuples *all = &n->p->tuples[side];
	struct tuples distinct = { .width = all->width };
	uint64_t masks[KEY_ID_COUNT] = { 0 };
	uint64_t values[2][KEY_ID_COUNT] = { { 0 } };
	int r = 0;

	if (!mask_values(n, side, masks))
		return 0;
	n->alike[side] = malloc((all->nr + (size_t)1) * sizeof(*n->alike[side]));
	if (!n->alike[side])
		return -ENOMEM;
	for (uint32_t t = 0; !r && t < all->nr; t++) {
		uint64_t *masked = values[t % 2];
		uint32_t number;

		for (size_t i = 0; i < all->width; i++)
			masked[i] = all->values.at[t * all->width + i] & masks[i];
		/* Tuples of the same function are mostly adjacent. */
		if (t && !memcmp(masked, values[(t + 1) % 2], sizeof(values[0])))
			number = n->alike[side][t - 1];
		else
			number = tuples_add(&distinct, masked);
		n->alike[side][t] = number;
		r = number == DICT_NONE ? -ENOMEM : 0;
	}
	tuples_done(&distinct);
	return r;
}

/* Returns the number of a group's line, which is created if needed; DICT_NONE if memory is
 * short. */
static uint32_t number_group(struct numbering *n, uint32_t group, uint32_t before)
{
	uint32_t alike[GROUP_SIDES];
	struct map_slot *slot;
	bool is_new;

	for (unsigned int side = 0; side < GROUP_SIDES; side++) {
		alike[side] = n->p->groups.at[group].tuple[side];
		if (n->alike[side])
			alike[side] = n->alike[side][alike[side]];
	}
	if (before != DICT_NONE && !memcmp(alike, n->last, sizeof(alike)))
		return before;
	memcpy(n->last, alike, sizeof(alike));
	slot = map_at(&n->by, alike[GROUP_WHO], alike[GROUP_WHERE], &is_new);
	if (!slot)
		return DICT_NONE;
	if (is_new) {
		if (!vec_push(&n->groups, group))
			return DICT_NONE;
		slot->value_plus_1 = (uint32_t)n->groups.nr;
	}
	return slot->value_plus_1 - 1;
}

static bool has_key_of(const struct profile *p, unsigned int keys)
{
	for (size_t k = 0; k < p->nr_keys; k++) {
		if (keys & 1u << p->options.keys->keys.at[k].row->id)
			return true;
	}
	return false;
}

/* Fills lines->number_of if several groups share a line. */
static int number_groups(struct numbering *n, struct report_lines *lines)
{
	size_t nr = n->p->groups.nr;

	if (!has_key_of(n->p, n->without))
		return 0;
	lines->number_of = malloc((nr + 1) * sizeof(*lines->number_of));
	if (!lines->number_of || number_tuples(n, GROUP_WHO) ||
	    number_tuples(n, GROUP_WHERE))
		return -ENOMEM;
	for (uint32_t g = 0; g < nr; g++) {
		lines->number_of[g] =
			number_group(n, g, g ? lines->number_of[g - 1] : DICT_NONE);
		if (lines->number_of[g] == DICT_NONE)
			return -ENOMEM;
	}
	return 0;
}

uint32_t lines_number(const struct report_lines *lines, uint32_t group)
{
	return lines->number_of ? lines->number_of[group] : group;
}

static int lines_add_counts(const struct profile *p, const uint32_t *column_of,
			    size_t nr_lines, struct report_lines *lines)
{
	size_t nr = lines->nr_columns;

	lines->totals = calloc(nr + 1, sizeof(*lines->totals));
	lines->counts = calloc(nr_lines * nr + 1, sizeof(*lines->counts));
	if (p->options.periods)
		lines->periods = calloc(nr_lines * nr + 1, sizeof(*lines->periods));
	if (!lines->totals || !lines->counts || (p->options.periods && !lines->periods))
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		size_t line = lines_number(lines, row->group);

		lines->counts[line * nr + column_of[i]] += row->samples;
		lines->totals[column_of[i]] += row->samples;
		if (lines->periods)
			lines->periods[line * nr + column_of[i]] += row->period;
	}
	return 0;
}

/* Returns the counts that are compared with the threshold. */
static const uint64_t *weights(const struct report_lines *lines,
			       const struct line *line)
{
	return lines->inclusive ? &lines->inclusive[line->number * lines->nr_columns]
				: line->counts;
}

static int add_inclusive(const struct profile *p, const uint32_t *column_of,
			 size_t nr_lines, struct report_lines *lines)
{
	size_t nr = lines->nr_columns;

	lines->inclusive = calloc(nr_lines * nr + 1, sizeof(*lines->inclusive));
	lines->inclusive_periods =
		calloc(nr_lines * nr + 1, sizeof(*lines->inclusive_periods));
	if (!lines->inclusive || !lines->inclusive_periods)
		return -ENOMEM;
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct call_total *total = &p->graph.totals.at[i];
		size_t line = column_of ? lines_number(lines, p->rows.at[i].group) : i;
		size_t at = line * nr + (column_of ? column_of[i] : 0);

		lines->inclusive[at] += total->samples;
		lines->inclusive_periods[at] += total->period;
	}
	return 0;
}

/* Adds confidence limits to lines of groups, which share the columns of counts. Returns 0 or
 * -ENOMEM. */
static int add_limits_of_groups(const struct profile *p,
				const struct present_options *o,
				const uint32_t *column_of, size_t nr_lines,
				struct report_lines *lines)
{
	struct share_sets sets = { .nr_sets = lines->nr_columns,
				   .nr_items = nr_lines,
				   .set_of = column_of };
	uint32_t *item_of = calloc(p->rows.nr + 1, sizeof(*item_of));
	int r = -ENOMEM;

	lines->confidence = o->confidence;
	lines->limits = calloc(nr_lines * sets.nr_sets + 1, sizeof(*lines->limits));
	if (item_of && lines->limits) {
		for (size_t i = 0; i < p->rows.nr; i++)
			item_of[i] = lines_number(lines, p->rows.at[i].group);
		sets.item_of = item_of;
		r = confidence_limits(p, &sets, o->confidence, lines->limits);
	}
	free(item_of);
	return r;
}

static int fill_groups(struct numbering *n, const struct present_options *o,
		       const uint32_t *column_of, struct report_lines *lines)
{
	size_t nr_columns = lines->nr_columns;
	size_t nr_lines = n->groups.at ? n->groups.nr : n->p->groups.nr;

	if (lines_add_counts(n->p, column_of, nr_lines, lines) ||
	    (o->children && add_inclusive(n->p, column_of, nr_lines, lines)) ||
	    (o->confidence > 0 &&
	     add_limits_of_groups(n->p, o, column_of, nr_lines, lines)) ||
	    !vec_reserve(&lines->all, nr_lines))
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_lines; i++) {
		struct line line = { .group = n->groups.at ? n->groups.at[i] : i,
				     .number = i,
				     .counts = &lines->counts[i * nr_columns] };

		if (!percent_reached(weights(lines, &line), lines->totals, nr_columns,
				     o->threshold))
			continue;
		lines->all.at[lines->all.nr++] = line;
	}
	return 0;
}

/* Keeps the first `top` lines of each event, or of all if lines are not rows of the profile. */
static int cut_lines(const struct profile *p, bool rows, size_t top,
		     struct report_lines *lines)
{
	size_t *nr_of = calloc(p->events.nr + 1, sizeof(*nr_of));
	size_t nr = 0;

	if (!nr_of)
		return -ENOMEM;
	for (size_t i = 0; i < lines->all.nr; i++) {
		const struct line *line = &lines->all.at[i];
		size_t event = rows ? p->rows.at[line->number].event : 0;

		if (nr_of[event]++ < top)
			lines->all.at[nr++] = *line;
	}
	lines->all.nr = nr;
	free(nr_of);
	return 0;
}

/* Sorts the lines, and keeps only those with the most samples if the options request it. */
static int lines_sort_and_cut(struct profile *p, const struct present_options *options,
			      const struct line_sorting *sorting,
			      struct report_lines *lines)
{
	const struct order by_samples = { .self = options->order.self };
	struct line_sorting first = *sorting;

	if (options->top && sorting->usual != LINES_UNSORTED) {
		first.order = &by_samples;
		first.reverse = false;
		if (lines_sort(p, &first, lines) ||
		    cut_lines(p, sorting->rows, options->top, lines))
			return -ENOMEM;
	}
	return lines_sort(p, sorting, lines);
}

int lines_of_groups(struct profile *p, const struct present_options *options,
		    enum line_order order, unsigned int without,
		    struct report_lines *lines, struct err *err)
{
	const struct line_sorting sorting = { .order = &options->order,
					      .usual = order,
					      .without = without,
					      .reverse = options->reverse };
	struct numbering n = { .p = p, .without = without };
	uint32_t *column_of = NULL;
	int r;

	*lines = (struct report_lines){ 0 };
	r = classes_of_profile(&lines->classes, options->kept, p, &column_of, err);
	lines->nr_columns = lines->classes.columns.nr;
	if (!r &&
	    (number_groups(&n, lines) || fill_groups(&n, options, column_of, lines) ||
	     lines_sort_and_cut(p, options, &sorting, lines)))
		r = err_set(err, -ENOMEM, "out of memory");
	map_done(&n.by);
	for (unsigned int side = 0; side < GROUP_SIDES; side++)
		free(n.alike[side]);
	vec_done(&n.groups);
	lines->column_of = column_of;
	if (r)
		lines_done(lines);
	return r;
}

/* Collects the events that have samples, by rank. */
static int collect_events(const struct profile *p, struct report_lines *lines)
{
	for (uint32_t rank = 0; rank < p->events.nr; rank++) {
		for (uint32_t e = 0; e < p->events.nr; e++) {
			if (p->events.at[e].rank != rank || !p->events.at[e].samples)
				continue;
			if (!vec_push(&lines->events, e))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Adds confidence limits to lines of rows, which share the samples of their event. Returns 0 or
 * -ENOMEM. */
static int add_limits_of_rows(const struct profile *p, const struct present_options *o,
			      struct report_lines *lines)
{
	const size_t nr_rows = p->rows.nr, nr_events = p->events.nr;
	uint32_t *set_of = calloc(nr_rows + 1, sizeof(*set_of));
	uint32_t *item_of = calloc(nr_rows + 1, sizeof(*item_of));
	uint32_t *nr_of = calloc(nr_events + 1, sizeof(*nr_of));
	struct share_sets sets = { nr_events, 0, set_of, item_of };
	struct limits *limits = NULL;
	int r = set_of && item_of && nr_of ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr_rows; i++) {
		set_of[i] = p->rows.at[i].event;
		item_of[i] = nr_of[set_of[i]]++;
		if (nr_of[set_of[i]] > sets.nr_items)
			sets.nr_items = nr_of[set_of[i]];
	}
	if (!r) {
		limits = calloc(sets.nr_items * nr_events + 1, sizeof(*limits));
		lines->confidence = o->confidence;
		lines->limits = calloc(nr_rows + 1, sizeof(*lines->limits));
		r = limits && lines->limits
			    ? confidence_limits(p, &sets, o->confidence, limits)
			    : -ENOMEM;
	}
	for (size_t i = 0; !r && i < nr_rows; i++)
		lines->limits[i] = limits[item_of[i] * nr_events + set_of[i]];
	free(set_of);
	free(item_of);
	free(nr_of);
	free(limits);
	return r;
}

static int fill_rows(struct profile *p, const struct present_options *o,
		     struct report_lines *lines)
{
	lines->nr_columns = 1;
	if (!vec_reserve(&lines->all, p->rows.nr) ||
	    (o->children && add_inclusive(p, NULL, p->rows.nr, lines)) ||
	    (o->confidence > 0 && add_limits_of_rows(p, o, lines)))
		return -ENOMEM;
	for (uint32_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		struct line line = { .group = row->group,
				     .number = i,
				     .counts = &row->samples };

		if (percent_of(*weights(lines, &line),
			       p->events.at[row->event].samples) < o->threshold)
			continue;
		lines->all.at[lines->all.nr++] = line;
	}
	return 0;
}

int lines_of_rows(struct profile *p, const struct present_options *options,
		  bool events_apart, struct report_lines *lines, struct err *err)
{
	const struct line_sorting sorting = { .order = &options->order,
					      .usual = LINES_BY_KEYS,
					      .rows = true,
					      .reverse = options->reverse,
					      .events_apart = events_apart };

	*lines = (struct report_lines){ 0 };
	if (collect_events(p, lines) || fill_rows(p, options, lines) ||
	    lines_sort_and_cut(p, options, &sorting, lines)) {
		lines_done(lines);
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

bool lines_has_values(const struct report_lines *lines, const struct profile *p,
		      size_t column)
{
	return column < lines->classes.columns.nr &&
	       profile_event_has_values(p, lines->classes.columns.at[column].event);
}

void lines_done(struct report_lines *lines)
{
	vec_done(&lines->all);
	vec_done(&lines->events);
	classes_done(&lines->classes);
	free(lines->totals);
	free(lines->counts);
	free(lines->inclusive);
	free(lines->inclusive_periods);
	free(lines->periods);
	free(lines->limits);
	free(lines->column_of);
	free(lines->number_of);
	*lines = (struct report_lines){ 0 };
}
