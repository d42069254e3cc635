/* archive_sessions.h - the recordings themselves, and where they lie in an archive.
 * Layer: tools. */
#pragma once

struct err;
struct report_sources;

/* Is told of each file: where it is, and its name in the archive.  A negative errno, with its
 * line said, ends it. */
typedef int (*archive_session_fn)(void *ctx, const char *from, const char *name);

/* Of a session all files, of a perf.data the one.  A session called by a name keeps it; the
 * first of the others is "current".  0 or a negative errno with a line. */
int archive_sessions(const struct report_sources *sources, archive_session_fn fn,
		     void *ctx, struct err *err);
