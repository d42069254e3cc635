/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load.h - reads a recording as a run of a comparison.
 * Layer: tools. */
#pragma once
#include <stdbool.h>

#include "base/containers/strtab.h"
#include "compare/comparison.h"

struct diff_options;
struct sorted_sides;
struct err;

/* The denominators of the blocks of a run. */
enum diff_per {
	DIFF_PER_TOTAL,
	DIFF_PER_WALL,
	DIFF_PER_WORK,
	DIFF_PER_EVENT
};

struct diff_load {
	const struct diff_options *options;
	const struct sorted_sides *sides;
	enum diff_per per;
	const char *per_event;      /* DIFF_PER_EVENT */
	double work[COMPARE_SIDES]; /* DIFF_PER_WORK: of each run */
	struct comparison *to;
	struct diff_facts *facts; /* of each run, in their order */
	size_t nr_facts;
	bool incomplete; /* some input could not be read */
	bool is_private; /* some input is not readable for every user */
};

/* What can make runs incomparable.  Strings of the comparison; 0: unknown. */
struct diff_facts {
	uint32_t hostname;
	uint32_t os_release;
	uint32_t cpu_desc;
	uint32_t event;
	uint64_t hz;    /* samples per second; 0: fixed period */
	uint64_t count; /* period; 0: fixed frequency */
};

/* Reads all recordings of both sides.  Returns 0, or a negative errno with a message in *err that
 * names the recording. */
int diff_load_all(struct diff_load *load, struct err *err);
void diff_load_done(struct diff_load *load);
