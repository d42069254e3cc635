/* lines.h - the rows of a profile as lines of a report: columns of counts side by side, or
 * one line a row; sorted, and cut at the threshold.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggregate/count/classes.h"
#include "base/containers/vec.h"
#include "present/lines/order.h"

struct err;
struct present_options;
struct profile;

/* Small: a report may have a line for each function of each program. */
struct line {
	uint32_t group; /* of the profile: the first of those that it sums up */
	/* Of a line of groups: lines_number() of its groups; of a line of its own: row of
	 * the profile. */
	uint32_t number;
	const uint64_t *counts; /* samples by column */
};

struct report_lines {
	VEC(struct line) all;
	VEC(uint32_t) events;   /* of lines_of_rows(): those that have samples */
	struct classes classes; /* of lines_of_groups(): its columns */
	size_t nr_columns;
	uint64_t *totals; /* samples selected, by column */
	uint64_t *counts; /* of lines_of_groups(): what the lines point into */
	/* With options.children: samples and periods with all that was called, by number and
	 * column of lines_of_groups(), by number of lines_of_rows(). */
	uint64_t *inclusive;
	uint64_t *inclusive_periods;
	uint64_t
		*periods; /* likewise, by number; NULL unless the profile has periods */
	uint32_t *number_of; /* by group; NULL: each has its own */
};

enum {
	/* The keys that columns are made of. */
	CLASS_KEYS = 1 << KEY_PID | 1 << KEY_TID | 1 << KEY_CPU
};

/* One line for the groups that are equal but for the keys `without` (1 << enum key_id), with
 * the samples of all columns.  0, -ENOMEM, or -EINVAL with the reason why the columns
 * cannot stand side by side. */
int lines_of_groups(struct profile *p, const struct present_options *options,
		    enum line_order order, unsigned int without,
		    struct report_lines *lines, struct err *err);
/* The number of the line that a group belongs to. */
uint32_t lines_number(const struct report_lines *lines, uint32_t group);
/* One line for each row: counts has one element.  `events_apart`: the events one after the
 * other. */
int lines_of_rows(struct profile *p, const struct present_options *options,
		  bool events_apart, struct report_lines *lines, struct err *err);
void lines_done(struct report_lines *lines);
