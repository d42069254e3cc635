/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.h - what `oprofile script` reads, sample by sample in order of time.
 * Layer: script. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "format/perfdata/input.h"
#include "format/session/session.h"

struct err;
struct report_session;
struct script_options;

struct script_result {
	uint64_t samples;   /* written */
	uint64_t skipped;   /* not asked for */
	uint64_t stray;     /* of no event of the file: perf drops them, too */
	uint64_t malformed; /* records */
	uint64_t lost;      /* samples, by the kernel */
	struct perf_input_damage damage;
	struct segment_damage segments; /* of all of a session */
	bool interrupted;
};

/* A perf.data file or directory, "-".  0, or a negative errno with a line for the user;
 * *ret_result is set in any case. */
int script_perf_data(const struct report_session *from,
		     const struct script_options *options,
		     struct script_result *ret_result, struct err *err);
/* The folder of a session, likewise.  Times are to 100 ns; of a binary the offset in the file
 * is kept, not where it was mapped, and that is what is printed. */
int script_session(const struct report_session *from,
		   const struct script_options *options,
		   struct script_result *ret_result, struct err *err);
