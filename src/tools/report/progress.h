/* SPDX-License-Identifier: GPL-2.0-or-later */
/* progress.h - how far the reading of a report's sources is, on progress.h's line.
 * Layer: tools. */
#pragma once
#include <stdint.h>

struct profile_options;
struct report_sources;

struct report_progress {
	const struct report_sources *sources;
	uint64_t total; /* bytes of all sources; 0: not known */
	uint64_t done;  /* of the files before this one */
};

/* Sets the options' progress and begins.  Both outlive report_progress_end(). */
void report_progress_begin(struct report_progress *p,
			   const struct report_sources *sources,
			   struct profile_options *options);
/* A file is read. */
void report_progress_file(struct report_progress *p, const char *path);
void report_progress_end(void);
