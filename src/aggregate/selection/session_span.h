/* session_span.h - when a session and its samples begin and end.
 * Layer: aggregate. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/files/trust.h"

struct session_info;

/* What a source knows of its session's times, all in its clock. */
struct session_span {
	uint64_t start_ns;          /* when the recording began */
	uint64_t first_ns, last_ns; /* of its samples; both 0: unknown */
	/* When the clock of the day was wall_ns (since 1970), the session's was wall_at_ns; of each
	 * segment, since the former is set now and then.  0: unknown. */
	uint64_t wall_ns, wall_at_ns;
};

/* Sets wall_ns and wall_at_ns as the segment says. */
void session_span_set_wall(struct session_span *span, const struct session_info *info);
/* Sets first_ns and last_ns from the segments of a session (session_list()), for which the
 * times of all samples are read: only to be asked where shares of them are.  What cannot be
 * read is left out.  0 or -ENOMEM. */
int session_span_read(char *const *paths, size_t nr, enum trust trust,
		      struct session_span *span);
