/* read.h - recordings into a profile: segments of sessions, and perf.data files.
 * Layer: aggregate. */
#pragma once
#include "aggregate/profile/profile.h"

struct err;
struct session_span;

/* Reads a segment file of `session_dir`; span->start_ns is the session's start, 0 before
 * its first segment.  A segment that is damaged is read as far as it goes and counted in
 * p->input. */
int profile_read_segment(struct profile *p, const char *path, const char *session_dir,
			 const char *session, struct session_span *span,
			 struct err *err);
/* Reads a perf.data: a file, a directory, or "-" (standard input).  What is damaged or
 * missing is counted in p->input.  0 or a negative errno with a line for the user. */
int profile_read_perf_data(struct profile *p, const char *path, const char *session,
			   struct err *err);
