/* SPDX-License-Identifier: GPL-2.0-or-later */
/* side_band.h - copies of side-band records that wait to be applied in order of time.
 * Layer: resolve, for recorders and for replay.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/replay/time_order.h"

/* Memory for the bytes of many records. */
struct side_band_block {
	uint8_t *bytes; /* NULL: freed, the slot can be reused */
	size_t used;
	size_t left; /* records */
};

/* Zero it before use. */
struct side_band {
	struct time_order order;
	VEC(struct side_band_block) blocks;
	size_t filled;    /* index of the block that records are added to */
	size_t nr_unused; /* slots without a block */
};

/* Receives a record. Any result but 0 ends side_band_give(), which returns it. */
typedef int (*side_band_fn)(void *ctx, const struct timed_record *record);

/* Keeps a copy of a record of less than 64 KB. `time_ns` can differ from the record's own time.
 * Returns 0 or -ENOMEM. */
int side_band_add(struct side_band *s, uint64_t time_ns, const void *bytes, size_t len);
/* Removes the record that was just added; no other call may come in between. */
void side_band_unadd(struct side_band *s);
/* Passes the records up to `until_ns` to `fn`, oldest first and in order of arrival for the same
 * time, and frees them. `fn` must not add any. Returns 0, -ENOMEM (and all records still wait), or
 * what `fn` returned. */
int side_band_give(struct side_band *s, uint64_t until_ns, side_band_fn fn, void *ctx);
/* Moves the records up to `until_ns` to `to`, in the same order. Returns 0 or -ENOMEM. */
int side_band_move(struct side_band *s, uint64_t until_ns, struct side_band *to);
/* Returns how many records wait. */
static inline size_t side_band_waiting(const struct side_band *s)
{
	return time_order_waiting(&s->order);
}
void side_band_done(struct side_band *s);
