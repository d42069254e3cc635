/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.h - reads all sources of a report into one profile.
 * Layer: tools.  For every command whose plan is that of a report (report_plan.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "aggregate/profile/profile.h"
#include "tools/report/progress.h"

struct err;
struct report_plan;

/* All zero before. */
struct report_read {
	struct profile profile; /* profile_done() in any case */
	size_t nr_unreadable;   /* segments that could not be opened */
	struct report_progress progress;
	unsigned int nr_anew; /* times that reading began anew */
};

/* 0, or a negative errno with a line for the user: nothing was found, ... */
int report_read_all(struct report_read *r, struct report_plan *plan, struct err *err);
/* Whether what was read is not for every user: a recording, or a binary whose functions it names. */
bool report_read_is_private(const struct report_read *r,
			    const struct report_plan *plan);
/* Warns if not all of the input could be read, in one line with numbers; then true. */
bool report_warn_of_damage(const struct report_read *r);
/* Losses that OProfile warns of too: more than 0.01 %. */
void report_warn_of_losses(const struct report_read *r);
