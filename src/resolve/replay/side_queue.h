/* side_queue.h - side-band records that were applied and wait to be shown between samples.
 * Layer: resolve, for replay.c alone. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "decode/record.h"
#include "resolve/replay/feed.h"

struct side_queue {
	VEC(struct feed_side) records;
	size_t given; /* of them; the bytes of those are freed */
};

/* One record, with its own time.  A negative errno ends it. */
typedef int (*side_fn)(void *ctx, const struct record *rec);

/* Takes over the records of the batch, whose bytes are NULL then.  0 or -ENOMEM. */
int side_queue_keep(struct side_queue *q, struct feed_batch *batch);
/* Tells of those up to the time.  0, or what `fn` returned. */
int side_queue_give(struct side_queue *q, const struct decoder *decoder,
		    uint64_t time_ns, side_fn fn, void *ctx);
void side_queue_done(struct side_queue *q);
