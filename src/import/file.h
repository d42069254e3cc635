/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - converts a perf.data file to a segment of a session.
 * Layer: import. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/files/trust.h"
#include "format/perfdata/input.h"

struct err;
struct naming_locations;
struct spec;

/* The result of an import. */
struct import_result {
	uint64_t samples; /* number of samples in the segment */
	/* number of samples that the specification does not select */
	uint64_t skipped;
	uint64_t lost; /* samples that the kernel lost while perf recorded */
	uint64_t malformed;
	uint64_t sample_types; /* PERF_SAMPLE_... of all events combined */
	struct perf_input_damage damage;
	bool interrupted; /* perf was killed */
};

struct import_request {
	const char *path; /* "-": standard input */
	enum trust trust; /* the owners whose files are read */
	const char *segment;
	/* The session's directory, which receives the files that JIT compilers of this machine
	 * wrote.  NULL: do not search for them. */
	const char *jit_dir;
	/* Prefix of the binaries' paths, such as the directory of an archive; only for sessions of
	 * OProfile.  NULL: none. */
	const char *root;
	const struct spec *spec; /* NULL: all samples */
	/* Further locations to search for binaries, which are needed to unwind stacks that were
	 * recorded as registers and a copy of the stack. NULL: search only the recorded paths. */
	struct naming_locations *locations;
};
/* Reads the file `path` and writes the selected samples to the new file `segment`.  Memory use
 * does not grow with the number of samples.  Damaged or missing data is counted.  Returns 0, or
 * a negative errno with a message that names the file; then there is no segment. */
int import_file(const struct import_request *request, struct import_result *ret_result,
		struct err *err);
/* Returns true if part of the input could not be read. */
bool import_is_incomplete(const struct import_result *result);
/* Logs a warning with the amounts of missing and damaged data. */
void import_say_incomplete(const char *name, const struct import_result *result);
