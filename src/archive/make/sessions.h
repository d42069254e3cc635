/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sessions.h - lists the files of the recordings, with their names in an archive.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct err;
struct report_sources;

/* Called for each file with its path and its name in the archive.  `is_recording`: the file
 * contains the samples, without which the archive is useless.  A negative errno, with a message
 * in the caller's struct err, ends the listing. */
typedef int (*archive_session_fn)(void *ctx, const char *from, const char *name,
				  bool is_recording);

/* Lists all files of each session, and the file of each perf.data. A session that was selected
 * by name keeps its name; the others are named "current", "current-2" and so on. A session
 * without segments, or anything that cannot be listed, is an error. Returns 0 or a negative
 * errno with a message. */
int archive_sessions(const struct report_sources *sources, archive_session_fn fn,
		     void *ctx, struct err *err);
