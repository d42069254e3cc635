/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorter.h - sorts samples of chunks by time.
 * Layer: resolve, for the files of replay.h alone.
 *
 * Samples wait until no older one can come. A chunk is kept until its last sample is released. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "format/perfdata/input.h"
#include "resolve/replay/feed.h"
#include "resolve/replay/time_order.h"

struct sorter_chunk {
	struct perf_chunk chunk;
	uint32_t left; /* samples not released yet; 0: the slot can be reused */
};

struct sorter {
	struct time_order order; /* `block`: index in `chunks` */
	VEC(struct sorter_chunk) chunks;
	VEC(uint32_t) unused; /* free slots of `chunks` */
	/* Index in `order` of the first record that was not released. */
	size_t done;
};

/* Adds the samples of a chunk, and takes ownership of it. Returns 0, or -ENOMEM, and then the
 * caller still owns the chunk. */
int sorter_add(struct sorter *s, const struct feed *f, struct feed_chunk *chunk);
/* Sorts the waiting samples. Call after the last add and before the first take, when all taken
 * samples are released. Returns 0 or -ENOMEM. */
int sorter_sort(struct sorter *s);
/* Returns the next sample that is older than `before_ns`, or NULL. Valid until
 * sorter_release(). */
const struct timed_record *sorter_take(struct sorter *s, uint64_t before_ns);
/* Releases all samples taken so far, and the chunks that are done. */
void sorter_release(struct sorter *s, struct perf_input *in);
/* Returns perf_chunk_is_lost() of the sample's chunk. */
bool sorter_is_lost(const struct sorter *s, const struct timed_record *item);
/* Frees the sorter and releases its chunks. */
void sorter_done(struct sorter *s, struct perf_input *in);
