/* SPDX-License-Identifier: GPL-2.0-or-later */
/* segment_order.h - reads the samples of a segment in time order.
 * Layer: format.  Not thread safe.
 *
 * The first pass reads only the times and records, for each batch, the earliest time in it or
 * in a later batch. In the second pass a sample is held back until nothing earlier can follow.
 * So memory use depends on how far the samples are out of order, which is a few flushes for
 * recordings of operf and of imports, and not on the length of the recording. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/session/session.h"

struct err;

struct segment_order {
	char *path;
	/* Times of the first and last sample; first_ns is UINT64_MAX if there are none. */
	uint64_t first_ns, last_ns;
	uint64_t nr_samples;
	/* for each batch, the earliest time in this batch or in a later one */
	VEC(uint64_t) least;
	enum trust trust;
	struct segment *segment; /* open during the second pass */
	/* number of batches that the second pass has read so far */
	size_t nr_batches;
	VEC(struct sample) waiting;
	size_t given; /* number of waiting samples that were returned already */
};

/* Runs the first pass. If `visit` is not NULL, it is called with the segment after it was read
 * completely, with its info, dict, totals and damage; a nonzero result is returned. Returns 0
 * or a negative errno. Call segment_order_done() in any case. */
int segment_order_scan(struct segment_order *o, const char *path, enum trust trust,
		       int (*visit)(void *ctx, const struct segment *s), void *ctx,
		       struct err *err);
/* Opens the segment for the second pass. Returns 0 or a negative errno. */
int segment_order_open(struct segment_order *o, struct err *err);
/* Returns the next sample in time order; equal times keep their file order. Its numbers refer
 * to segment_dict(o->segment). Returns 0, 1 at the end, or a negative errno. */
int segment_order_next(struct segment_order *o, struct sample *ret_sample,
		       struct err *err);
/* Closes the segment. The results of the first pass are kept. */
void segment_order_close(struct segment_order *o);
void segment_order_done(struct segment_order *o);
