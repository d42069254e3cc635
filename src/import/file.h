/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - one perf.data to one segment of a session.
 * Layer: import. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/perfdata/input.h"

struct err;
struct naming_places;
struct spec;

/* What came of it. */
struct import_result {
	uint64_t samples; /* in the segment */
	uint64_t skipped; /* not asked for */
	uint64_t lost;    /* by the kernel while perf recorded */
	uint64_t malformed;
	uint64_t sample_types; /* PERF_SAMPLE_... of all events together */
	struct perf_input_damage damage;
	bool interrupted; /* perf was killed */
};

struct import_request {
	const char *path; /* "-": standard input */
	enum trust trust; /* whose file it may be */
	const char *segment;
	const char *jit_dir; /* the session's folder, which takes what JIT compilers of
				  * this machine wrote; NULL: nothing is looked for */
	const struct spec *spec; /* NULL: all samples */
	/* Stacks that were recorded as registers and a part of the stack are unwound, with
	 * the binaries that this finds; NULL: with those at their recorded places. */
	struct naming_places *places;
};
/* Reads the file `path` and writes the samples that are asked for to the
 * new file `segment`.  Memory does not grow with the samples.  What is damaged or
 * missing is counted.  0, or a negative errno with a line that names the file; there is no
 * segment then. */
int import_file(const struct import_request *request, struct import_result *ret_result,
		struct err *err);
/* Whether something of the input could not be read. */
bool import_is_incomplete(const struct import_result *result);
/* Says so, with numbers. */
void import_say_incomplete(const char *name, const struct import_result *result);
