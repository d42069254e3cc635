/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec_time.h - parses spans of time: the values of time: in a profile specification.
 * Layer: aggregate.
 *   1.5s-3s 250ms- -2m      from the session's start; an omitted end is unlimited
 *   10%-20% 90%-            of the time from the session's first sample to its last
 *   10%/2 10%               the second slice of a tenth, the first one (perf's syntax)
 *   @1763800000- @A-@B      seconds since 1970, by the wall clock
 * A span includes its start and excludes its end, so adjacent spans share no sample; 100%
 * includes the last sample. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/session_span.h"

struct spec_moment {
	enum {
		MOMENT_OPEN, /* unlimited */
		MOMENT_TIME,
		MOMENT_SHARE,
		MOMENT_WALL
	} kind;
	/* MOMENT_TIME: since the session's start; MOMENT_WALL: since 1970. */
	uint64_t ns;
	double percent; /* MOMENT_SHARE: of the time from the first to the last sample */
};

struct spec_span {
	struct spec_moment from, to;
};

struct time_range {
	uint64_t from_ns;
	uint64_t to_ns; /* exclusive */
};

/* Returns false if the text is not a span; *ret_span is then unchanged. */
bool spec_span_parse(const char *text, struct spec_span *ret_span);
/* Returns true if session_span.first_ns and last_ns are needed. */
bool spec_span_has_shares(const struct spec_span *span);
/* Returns true if session_span.wall_ns is needed. */
bool spec_span_has_wall(const struct spec_span *span);
/* Returns the span in the session's clock; it is empty if its end precedes its start.  Samples
 * from before the start count as the first moment, as in --by time. */
struct time_range spec_span_range(const struct spec_span *span,
				  const struct session_span *session);
