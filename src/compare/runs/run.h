/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run.h - adds the profile of a recording to a comparison as a run.
 * Layer: compare.  Not thread safe.
 * The profile has the keys time and, for a tree, stack; otherwise image, symbol, and either line
 * or stack, or none of these two. */
#pragma once
#include <stdint.h>

#include "compare/comparison.h"

struct err;
struct profile;

/* The denominators of the blocks of a run. */
enum run_per {
	RUN_PER_TOTAL,
	RUN_PER_WALL,
	RUN_PER_WORK,
	RUN_PER_EVENT
};

struct run_source {
	struct comparison *to;
	enum compare_side side;
	const char *name; /* of the recording, as the user typed it */
	struct profile *profile;
	enum run_per per;
	const char *per_event; /* RUN_PER_EVENT */
	double work;           /* RUN_PER_WORK */
	uint64_t length_ns;    /* of the recording; 0: unknown */
	uint64_t width_ns;     /* of a block */
};

/* Adds the run with all facts about its event.  Returns 0, or a negative errno with a message in
 * *err. */
int run_add_profile(const struct run_source *source, struct compare_run **ret_run,
		    struct err *err);
