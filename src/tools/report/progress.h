/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.h - shows the progress of reading a report's sources, on the line of
 * tools/cli/progress.h.
 * Layer: tools. */
#pragma once
#include <stdint.h>

struct profile_options;
struct report_sources;

struct report_progress {
	const struct report_sources *sources;
	uint64_t total; /* bytes of all sources; 0: unknown */
	uint64_t done;  /* of the files before this one */
};

/* Sets the options' progress and starts.  Both must outlive report_progress_end(). */
void report_progress_begin(struct report_progress *p,
			   const struct report_sources *sources,
			   struct profile_options *options);
/* Call before a file is read. */
void report_progress_file(struct report_progress *p, const char *path);
void report_progress_end(void);
