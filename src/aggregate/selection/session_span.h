/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session_span.h - the start of a session, and the time range of its samples.
 * Layer: aggregate. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/files/trust.h"

struct session_info;

/* The times of a session that a source knows, all in nanoseconds of the session's clock. */
struct session_span {
	uint64_t start_ns;          /* start of the recording */
	uint64_t first_ns, last_ns; /* of its samples; both 0: unknown */
	/* wall_at_ns is the time of the session's clock at which the wall clock was wall_ns (since
	 * 1970).  Each segment has its own pair, because the wall clock can be adjusted. 0:
	 * unknown. */
	uint64_t wall_ns, wall_at_ns;
};

/* Sets wall_ns and wall_at_ns from the segment. */
void session_span_set_wall(struct session_span *span, const struct session_info *info);
/* Sets first_ns and last_ns from the segments of a session (session_list()).  This reads the
 * times of all samples, so call it only if percentages of the time are needed.  Skips unreadable
 * segments.  Returns 0 or -ENOMEM. */
int session_span_read(char *const *paths, size_t nr, enum trust trust,
		      struct session_span *span);
