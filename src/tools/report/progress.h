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
	uint64_t done;  /* bytes of the files before the current one */
};

/* Starts the display and sets the progress callback of `options`. Both must stay valid until
 * report_progress_end(). */
void report_progress_begin(struct report_progress *p,
			   const struct report_sources *sources,
			   struct profile_options *options);
/* Call after a file was read. */
void report_progress_file(struct report_progress *p, const char *path);
void report_progress_end(void);
