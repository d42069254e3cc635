/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_source.h - the facts about a recording that a profile needs before its samples.
 * Layer: aggregate. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct dict;
struct naming;
struct session_info;

/* The source of batches.  All of it must outlive profile_end(). */
struct profile_source {
	const struct dict *dict;
	const struct session_info *info;
	struct naming *naming;
	const char *session; /* name of the session */
	uint64_t start_ns;   /* of the session, for KEY_TIME and time: */
	/* Time range of the session's samples, for percentages of it (time:10%-20%).  Both 0:
	 * unknown, which is an error if they are needed (spec_has_shares()). */
	uint64_t first_ns, last_ns;
	uint64_t wall_ns, wall_at_ns; /* of session_span.h */
	/* The data that identifies binaries (build-ids of a pipe) follows the samples, so images
	 * are looked up when the source ends, not at their first sample. */
	bool names_late;
};
