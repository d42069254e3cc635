/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series.h - the recordings in a directory, and when each was made.
 * Layer: recordings. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"

struct err;
struct recording_outline;
struct report_sources;

struct recording_series {
	VEC(char *) paths; /* by name, with numbers in numeric order */
};

/* Finds every recording directly inside `dir`: sessions, archives, perf.data files, profiles of
 * other tools. Ignores hidden names and other files. Returns 0, or a negative errno with a
 * message in *err; call recording_series_done() in any case. */
int recording_series_find(const char *dir, struct recording_series *ret,
			  struct err *err);
void recording_series_done(struct recording_series *s);
/* Returns when the recording at `path` began, in ns since 1970; 0: unknown. If the recording
 * does not contain this time, estimates it as the modification time of `path` minus the duration
 * of the recording. `sources` and `o` are those of the recording. */
uint64_t recording_start_ns(const char *path, const struct report_sources *sources,
			    const struct recording_outline *o);
