/* segment_order.h - the samples of a segment in order of time.
 * Layer: format.  Not thread safe.
 *
 * A first pass over the times alone notes the earliest time behind each batch; in the second
 * a sample waits until nothing earlier can come.  So memory holds what is really out of
 * order: with what operf and import write a few flushes, whatever the length. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"
#include "format/session/session.h"

struct err;

struct segment_order {
	char *path;
	uint64_t first_ns,
		last_ns; /* of its samples; first_ns UINT64_MAX: there are none */
	uint64_t nr_samples;
	VEC(uint64_t) least; /* earliest time in each batch and those behind it */
	enum trust trust;
	struct segment *segment; /* open in the second pass */
	size_t nr_batches;       /* read in it */
	VEC(struct sample) waiting;
	size_t given; /* of the waiting ones */
};

/* The first pass.  `visit` (may be NULL) sees the segment when it has been read to the end:
 * its info, its dict, its totals and damage; what it returns, if not 0, is returned.
 * 0 or a negative errno; segment_order_done() in any case. */
int segment_order_scan(struct segment_order *o, const char *path, enum trust trust,
		       int (*visit)(void *ctx, const struct segment *s), void *ctx,
		       struct err *err);
/* Opens the segment for the second pass. */
int segment_order_open(struct segment_order *o, struct err *err);
/* The next sample in order of time (then of the file).  Its numbers are those of
 * segment_dict(o->segment).  0, 1 at the end, or a negative errno. */
int segment_order_next(struct segment_order *o, struct sample *ret_sample,
		       struct err *err);
/* Closes the segment; what the first pass found stays. */
void segment_order_close(struct segment_order *o);
void segment_order_done(struct segment_order *o);
