/* lines.h - the rows of a profile as lines of a report: events side by side, or one line a
 * row; sorted, and cut at the threshold.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "present/ties.h"

struct present_options;
struct profile;

struct line {
	uint32_t group;
	uint32_t event;   /* of a line of its own: event of the profile */
	uint64_t period;  /* likewise */
	uint64_t *counts; /* samples by position of the event */
	uint64_t first;   /* counts[0] */
	uint64_t tie;     /* what orders lines of equal counts; 0 if it is not known */
};

struct lines {
	VEC(struct line) all;
	VEC(uint32_t) events; /* position -> event, those that have samples */
	uint64_t *totals;     /* samples selected, by position */
	uint64_t *counts;     /* what the lines point into */
};

/* One line for each group, with the samples of all events.  0 or -ENOMEM. */
int lines_of_groups(struct profile *p, const struct present_options *options,
		    enum line_order order, struct lines *lines);
/* One line for each row: counts has one element.  `events_apart`: the events one after the
 * other. */
int lines_of_rows(struct profile *p, const struct present_options *options,
		  bool events_apart, struct lines *lines);
void lines_done(struct lines *lines);
