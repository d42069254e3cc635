/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - adds the profile of a recording to a comparison as a run.
 * Layer: compare.  Not thread safe.
 * For a comparison of trees, the profile has the keys time and stack. Otherwise it has the keys
 * time, image and symbol, and optionally either line or stack. */
#pragma once
#include <stdint.h>

#include "compare/comparison.h"

struct err;
struct profile;

/* The denominators of the blocks of a run. */
enum run_per {
	RUN_PER_TOTAL, /* samples of the compared event: rows are shares */
	RUN_PER_WALL,  /* seconds */
	RUN_PER_WORK,  /* units of work, the same number in each block */
	RUN_PER_EVENT  /* counts of another event */
};

struct run_source {
	struct comparison *to;
	enum compare_side side;
	const char *name; /* of the recording, as the user typed it */
	struct profile *profile;
	enum run_per per;
	const char *per_event; /* for RUN_PER_EVENT: name of the event */

	double work; /* for RUN_PER_WORK: units of work of the whole run */

	uint64_t length_ns; /* of the recording; 0: unknown */
	uint64_t width_ns;  /* of a block */
};

/* Adds the run, with its cells and the facts about its event; the caller sets the other facts.
 * source->to owns *ret_run. Returns 0, or a negative errno with a message in *err. */
int run_add_profile(const struct run_source *source, struct compare_run **ret_run,
		    struct err *err);
