/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_reading.h - reads all recordings of a command into one profile.
 * Layer: recordings. */
#pragma once
#include <stddef.h>

struct err;
struct profile;
struct profile_options;
struct report_sources;

/* Callbacks can be NULL. */
struct profile_reading {
	const struct report_sources *sources;
	const struct profile_options *options;
	/* Called before the first file, and again before each retry. */
	void (*begin)(void *ctx);
	void (*file_done)(void *ctx, const char *path); /* after each file */
	/* Receives the message about a segment that cannot be read. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
	size_t nr_unreadable; /* output: number of such segments */
};

/* Initializes *p and reads all sources into it. If a session is merged, saved or removed
 * meanwhile, starts again from the first source. Skips an unreadable segment if its session has
 * others. Returns 0, or a negative errno with a message in *err; call profile_done() in any
 * case. */
int profile_reading_run(struct profile_reading *r, struct profile *p, struct err *err);
