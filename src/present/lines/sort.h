/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort.h - sorts the lines of a report.
 * Layer: present; used by lines.c. */
#pragma once
#include <stdbool.h>

#include "present/lines/order.h"

struct report_lines;
struct profile;

struct line_sorting {
	const struct order *order; /* from --sort */
	enum line_order usual;
	unsigned int without; /* ignored keys: bits of 1 << enum key_id */
	bool reverse;
	bool rows;         /* lines_of_rows(): each line is a row of the profile */
	bool events_apart; /* list the events one after the other */
};

/* Sorts the lines of a report. Returns 0 or -ENOMEM. */
int lines_sort(struct profile *p, const struct line_sorting *how,
	       struct report_lines *lines);
