/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retention.h - how long a session's segments are kept, and how they are merged as they age.
 * Layer: daemon.  Single-threaded.  The caller supplies the time. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
	RETENTION_UNSEALED = 32
};

struct retention {
	uint64_t max_bytes;  /* limit on the size of segments and copies; 0: no limit */
	uint64_t max_age_ns; /* 0: no limit */
	uint64_t
		boottime_ns; /* CLOCK_BOOTTIME, which is never set; the caller updates it before
                              * each call */
	/* The value of `boottime_ns` when this process first saw the present parts, which are
	 * source segments of finished merges; 0: there are no parts. */

	uint64_t covered_since_ns;
	/* Numbers of the last segments that could not be sealed; they are not retried. */
	uint64_t unsealed[RETENTION_UNSEALED];
	size_t nr_unsealed;
	/* Runs of segments that could not be merged and are not retried: the number of the last
	 * segment of each run. */
	uint64_t unmerged[RETENTION_UNSEALED];
	size_t nr_unmerged;
	/* Do not merge more bytes than this, because a larger merge used too much memory; 0: no
	 * limit known. */
	uint64_t merged_max_bytes;
	const atomic_bool *stop; /* set: a call ends soon; NULL: never */
};

/* The result of a call. */
struct retention_result {
	uint64_t nr_merged;  /* segments merged into one */
	uint64_t nr_sealed;  /* segments that were rewritten to save space */
	uint64_t nr_expired; /* segments too old, or over the size limit */
	uint64_t nr_samples; /* number of samples in the segment that was merged */
	uint64_t nr_copies;  /* copies removed */
	uint64_t bytes;      /* size of all segments and copies, after the call */
	uint64_t copy_bytes; /* size of the copies alone */
	uint64_t
		stopped_bytes; /* size of the segments whose merge was stopped; 0: none was
			        * stopped */
};

/* Parses "2G,30d": sizes with K, M, G, T and times with m, h, d, w, in any order, each at most
 * once.  Returns 0, or -EINVAL with a message in *err. */
int retention_parse(const char *text, struct retention *ret_retention, struct err *err);
/* Maintains the segments of `dir` at `now_ns` (CLOCK_REALTIME). Call it periodically; each call
 * merges at most once. Removes empty segments, segments that are too old, and the oldest ones while
 * all data exceeds max_bytes. Merges the segments of each completed ten minutes, hour and day into
 * one. If there is nothing to merge, seals (segment_merge.h) the first complete segment that is not
 * sealed. Limits copies (copies.h) to half of max_bytes, and removes those older than all remaining
 * segments. `live_from`: the number of the first segment that may still be written, UINT64_MAX if
 * all are complete; segments locked by their writers are also skipped. Returns 0 or a negative
 * errno with a message in *err. */
int retention_look(struct retention *r, const char *dir, uint64_t now_ns,
		   uint64_t live_from, struct retention_result *ret_result,
		   struct err *err);
/* Call when another session starts. Forgets which segments could not be merged or sealed, because
 * the new session reuses their numbers. */
void retention_begin(struct retention *r);
/* Call when a merge of `bytes` used too much memory: limits merges to half as much from now on. */
void retention_merge_less(struct retention *r, uint64_t bytes);
