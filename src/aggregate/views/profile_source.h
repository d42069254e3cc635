/* profile_source.h - what a profile is told of a recording before its samples come.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dict;
struct naming;
struct session_info;

/* Where batches come from.  All of it outlives profile_end(). */
struct profile_source {
	const struct dict *dict;
	const struct session_info *info;
	struct naming *naming;
	const char *session; /* name of the session */
	uint64_t start_ns;   /* of the session, for KEY_TIME and time: */
	/* Of the session's samples, for shares of its time (time:10%-20%); both 0: unknown,
	 * which is an error where such are asked for (spec_has_shares()). */
	uint64_t first_ns, last_ns;
	uint64_t wall_ns, wall_at_ns; /* of session_span.h */
	/* What tells binaries apart comes behind the samples (build-ids of a pipe): images
	 * are looked at when the source ends, not at their first sample. */
	bool names_late;
};
