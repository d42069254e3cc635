/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.h - turns the rows of a profile into sorted report lines: several columns of counts next
 * to each other, or one line per row. Omits lines below the threshold, and those after the first
 * `top`.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/count/classes.h"
#include "base/containers/vec.h"
#include "present/lines/order.h"

struct err;
struct limits;
struct present_options;
struct profile;

/* Keep this small: a report can have a line for each function of each program. */
struct line {
	uint32_t group; /* group of the profile: the first one that this line sums up */
	/* Number of the line.  In lines_of_groups(), lines_number() of its groups; in
	 * lines_of_rows(), the row of the profile. */
	uint32_t number;
	const uint64_t *counts; /* samples by column */
};

struct report_lines {
	VEC(struct line) all;
	VEC(uint32_t) events;   /* lines_of_rows(): the events that have samples */
	struct classes classes; /* lines_of_groups(): its columns */
	size_t nr_columns;
	uint64_t *totals; /* selected samples, by column */
	uint64_t *counts; /* lines_of_groups(): backs the pointers of the lines */
	/* With options.children: samples and periods including callees; by line number and
	 * column (lines_of_groups()), or by line number (lines_of_rows()). */
	uint64_t *inclusive;
	uint64_t *inclusive_periods;
	/* Like `counts`, by line number; NULL unless the profile has periods. */
	uint64_t *periods;
	/* With options.confidence: by line number and column (lines_of_groups()), or by line number
	 * (lines_of_rows()). */
	struct limits *limits;
	double confidence;   /* their level, in percent; 0: none */
	uint32_t *column_of; /* lines_of_groups(): by row of the profile */
	uint32_t *number_of; /* by group; NULL: one line per group */
};

enum {
	/* The keys that can become columns. */
	CLASS_KEYS = 1 << KEY_PID | 1 << KEY_TID | 1 << KEY_CPU
};

/* Makes one line from all groups that are equal except for the keys `without` (bits of 1 << enum
 * key_id), with the samples of all columns. Returns 0, -ENOMEM, or -EINVAL with a message if the
 * columns cannot be shown next to each other. Free `lines` with lines_done(). */
int lines_of_groups(struct profile *p, const struct present_options *options,
		    enum line_order order, unsigned int without,
		    struct report_lines *lines, struct err *err);
/* Returns the number of the line that contains a group (struct line). */
uint32_t lines_number(const struct report_lines *lines, uint32_t group);
/* Makes one line per row; counts has one element.  `events_apart` lists the events one after the
 * other.  Free `lines` with lines_done().  Returns 0 or -ENOMEM. */
int lines_of_rows(struct profile *p, const struct present_options *options,
		  bool events_apart, struct report_lines *lines, struct err *err);
/* Returns true if a column's counts are sums of periods: profile_event_has_values(). */
bool lines_has_values(const struct report_lines *lines, const struct profile *p,
		      size_t column);
void lines_done(struct report_lines *lines);
