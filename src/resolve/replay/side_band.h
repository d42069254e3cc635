/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_band.h - copies of side-band records, which wait to be applied in order of time.
 * Layer: resolve, for recorders and for replay.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/replay/time_order.h"

/* Memory for the bytes of many records. */
struct side_band_block {
	uint8_t *bytes; /* NULL: it was freed, another one can be here */
	size_t used;
	size_t left; /* records */
};

/* Starts as zeros. */
struct side_band {
	struct time_order order;
	VEC(struct side_band_block) blocks;
	size_t filled;    /* block that records are added to */
	size_t nr_unused; /* without memory */
};

/* A negative errno, or any other value but 0, ends side_band_give(). */
typedef int (*side_band_fn)(void *ctx, const struct timed_record *record);

/* Keeps a copy of a record of less than 64 KB; `time_ns` need not be what it says itself.  0 or
 * -ENOMEM. */
int side_band_add(struct side_band *s, uint64_t time_ns, const void *bytes, size_t len);
/* Takes back the last one that was added, before any other call. */
void side_band_unadd(struct side_band *s);
/* Gives `fn` those up to that time, the oldest first, and of the same time in order of arrival, and frees
 * them.  `fn` adds none.  0, -ENOMEM (all of them wait on), or what `fn` returned. */
int side_band_give(struct side_band *s, uint64_t until_ns, side_band_fn fn, void *ctx);
/* Moves these to `to` in the same order.  0 or -ENOMEM. */
int side_band_move(struct side_band *s, uint64_t until_ns, struct side_band *to);
/* How many wait. */
static inline size_t side_band_waiting(const struct side_band *s)
{
	return time_order_waiting(&s->order);
}
void side_band_done(struct side_band *s);
