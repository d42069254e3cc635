/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retention.h - how long a session's segments are kept, and how they grow together as they age.
 * Layer: daemon.  Single-threaded.  The time is the caller's. */
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
	uint64_t max_bytes;  /* of segments and copies; 0: no bound */
	uint64_t max_age_ns; /* 0: no bound */
	uint64_t
		boottime_ns; /* CLOCK_BOOTTIME, which nobody sets, at each call: the caller's */
	/* By that clock: there are merged segments whose parts are still there; 0: there are none. */
	uint64_t covered_since_ns;
	/* Numbers of segments that could not be sealed, the last of them: not tried again. */
	uint64_t unsealed[RETENTION_UNSEALED];
	size_t nr_unsealed;
	/* Last numbers of runs that could not be merged, likewise: whatever the first one is by then. */
	uint64_t unmerged[RETENTION_UNSEALED];
	size_t nr_unmerged;
	/* Segments stay apart that have more together, since as many took too much memory; 0: no such were
	 * met. */
	uint64_t merged_max_bytes;
	const atomic_bool *stop; /* set: a call ends soon; NULL: nobody stops it */
};

/* What a call did. */
struct retention_result {
	uint64_t nr_merged;     /* segments that became one */
	uint64_t nr_sealed;     /* segments that were written anew, smaller */
	uint64_t nr_expired;    /* too old, or one too many for the size */
	uint64_t nr_samples;    /* of the merged one */
	uint64_t nr_copies;     /* that were removed */
	uint64_t bytes;         /* of all segments and copies, behind it */
	uint64_t stopped_bytes; /* of segments whose merge was stopped; 0: none was */
};

/* "2G,30d": sizes with K, M, G, T and times with m, h, d, w, in any order, each at most once.
 * 0, or -EINVAL with a line. */
int retention_parse(const char *text, struct retention *ret_retention, struct err *err);
/* Looks after the segments of `dir` at `now_ns` (CLOCK_REALTIME), to be called now and then: at
 * most one merge a call.  Segments of ten minutes, of an hour, of a day that are over become one
 * each, empty files go; the first that is over but not sealed (segment_merge.h) is, if there is nothing to merge.
 * Copies (copies.h) have half of the bytes at most, and go when no segment is left that is as old.
 * `live_from`: the number of the first that may
 * still be written, UINT64_MAX if there is none; those that are locked by who writes them are left alone, too.  0 or a negative errno with a line. */
int retention_look(struct retention *r, const char *dir, uint64_t now_ns,
		   uint64_t live_from, struct retention_result *ret_result,
		   struct err *err);
/* Another session begins, whose segments have the same numbers: what was learned of those is forgotten. */
void retention_begin(struct retention *r);
/* What was to be one and had so many bytes is too much for memory: it stays apart, and so does what is as
 * large. */
void retention_merge_less(struct retention *r, uint64_t bytes);
