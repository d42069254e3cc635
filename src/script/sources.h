/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sources.h - the inputs of `oprofile script`, read sample by sample in order of time.
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
	uint64_t samples; /* written */
	uint64_t skipped; /* not selected */
	/* Samples that belong to no event of the file; perf also drops them. */
	uint64_t stray;
	uint64_t malformed; /* records */
	uint64_t lost;      /* samples, by the kernel */
	uint64_t dropped;   /* samples, by the recorder */
	struct perf_input_damage damage;
	struct segment_damage segments; /* sum over a session's segments */
	bool interrupted;
};

/* Prints the samples of a perf.data file or directory, or of "-" (standard input). Returns 0, or a
 * negative errno with a message for the user. Sets *ret_result in any case. */
int script_perf_data(const struct report_session *from,
		     const struct script_options *options,
		     struct script_result *ret_result, struct err *err);
/* Prints the samples of a session, as script_perf_data() does. Times have a resolution of 100
 * ns. Prints offsets instead of addresses in binaries, because sessions do not store where
 * binaries were mapped. */
int script_session(const struct report_session *from,
		   const struct script_options *options,
		   struct script_result *ret_result, struct err *err);
