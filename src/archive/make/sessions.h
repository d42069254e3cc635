/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sessions.h - the recordings themselves, and where they lie in an archive.
 * Layer: archive. */
#pragma once
#include <stdbool.h>

struct err;
struct report_sources;

/* Called for each file: where it is, and its name in the archive.  `is_recording`: the samples
 * themselves, without which the archive is worth nothing.  A negative errno, with its line in
 * the caller's struct err, ends it. */
typedef int (*archive_session_fn)(void *ctx, const char *from, const char *name,
				  bool is_recording);

/* Of a session all files, of a perf.data the one.  A session called by a name keeps it; the
 * first of the others is "current".  A session without a segment, and anything that cannot be
 * listed, is an error.  0 or a negative errno with a line. */
int archive_sessions(const struct report_sources *sources, archive_session_fn fn,
		     void *ctx, struct err *err);
