/* spec_time.h - spans of time as words: the values of time: in a profile specification.
 * Layer: aggregate.
 *
 *	1.5s-3s 250ms- -2m      from the session's start; an end left out is that of all
 *	10%-20% 90%-            of the time from the session's first sample to its last
 *	10%/2 10%               the second slice of a tenth, the first one (perf's spelling)
 *	@1763800000- @A-@B      seconds since 1970, by the clock of the day
 *
 * The begin belongs to a span, the end does not, so that neighbours share no sample; the
 * last sample belongs to 100%. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/session_span.h"

struct spec_moment {
	enum {
		MOMENT_OPEN, /* as far as there are samples */
		MOMENT_TIME,
		MOMENT_SHARE,
		MOMENT_WALL
	} kind;
	uint64_t ns; /* of a TIME: since the session's start; of a WALL: since 1970 */
	double percent; /* of a SHARE */
};

struct spec_span {
	struct spec_moment from, to;
};

struct time_range {
	uint64_t from_ns;
	uint64_t to_ns; /* not within any more */
};

/* False if the text is no span; *ret_span is then untouched. */
bool spec_span_parse(const char *text, struct spec_span *ret_span);
/* Whether session_span.first_ns and last_ns are needed. */
bool spec_span_has_shares(const struct spec_span *span);
/* Whether session_span.wall_ns is needed. */
bool spec_span_has_wall(const struct spec_span *span);
/* The span in the session's clock; one that ends before it begins is empty.  What is older
 * than the start counts as its first moment, as it does in --by time. */
struct time_range spec_span_range(const struct spec_span *span,
				  const struct session_span *session);
