/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.h - reads recordings into a profile: segments of sessions, and perf.data files.
 * Layer: aggregate. */
#pragma once
#include "aggregate/profile/profile.h"

struct err;
struct session_span;

/* Reads a segment file of `session_dir`.  span->start_ns is the session's start, or 0 before its
 * first segment, which then sets it.  A damaged segment is read as far as possible; the damage
 * is counted in p->input.  Returns 0 or a negative errno with a message. */
int profile_read_segment(struct profile *p, const char *path, const char *session_dir,
			 const char *session, struct session_span *span,
			 struct err *err);
/* Reads a perf.data: a file, a directory, or "-" (standard input).  Damaged or missing data is
 * counted in p->input.  Returns 0 or a negative errno with a message for the user. */
int profile_read_perf_data(struct profile *p, const char *path, const char *session,
			   struct err *err);
