/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.h - reads all sources of a report into one profile.
 * Layer: tools.  For every command that uses a report's plan (tools/report/plan.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "aggregate/profile/profile.h"
#include "tools/report/progress.h"

struct err;
struct report_plan;

/* Initialize to zeros. */
struct report_read {
	struct profile profile; /* call profile_done() in any case */
	size_t nr_unreadable;   /* segments that could not be opened */
	struct report_progress progress;
	bool says_files; /* print the name of each file (--verbose=sfile) */
};

/* Reads all recordings of the plan into r->profile.  Returns 0, or a negative errno with a message
 * in *err; it is an error if no sample is found or selected. */
int report_read_all(struct report_read *r, struct report_plan *plan, struct err *err);
/* Returns whether some input is not readable for every user: a recording, or a binary whose
 * functions the report names. */
bool report_read_is_private(const struct report_read *r,
			    const struct report_plan *plan);
/* Warns, with numbers, if some input could not be read completely. Returns true in that case, and
 * also if samples were dropped during the recording. */
bool report_warn_of_damage(const struct report_read *r);
/* Warns if more than 0.01 % of the samples were lost, as OProfile does; if samples were dropped, or
 * records of processes and mappings were lost; and if events were throttled. */
void report_warn_of_losses(const struct report_read *r);
