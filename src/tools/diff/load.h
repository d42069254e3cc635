/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.h - reads a recording as a run of a comparison.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "base/containers/strtab.h"
#include "compare/comparison.h"
#include "compare/runs/run.h"

struct diff_options;
struct sorted_sides;
struct err;

struct diff_load {
	const struct diff_options *options;
	const struct sorted_sides *sides;
	enum run_per per;
	const char *per_event;      /* RUN_PER_EVENT */
	double work[COMPARE_SIDES]; /* RUN_PER_WORK: of each run */
	struct comparison *to;
	bool incomplete; /* some input could not be read */
	bool is_private; /* some input is not readable for every user */
};

/* Reads all recordings of both sides.  Returns 0, or a negative errno with a message in *err that
 * names the recording. */
int diff_load_all(struct diff_load *load, struct err *err);
