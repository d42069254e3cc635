/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorter.h - samples of chunks in order of time.
 * Layer: resolve, for replay.c alone.
 *
 * Samples wait until no older one can come; a chunk is kept until its last one is out. */
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
	uint32_t left; /* samples that wait; 0: released, to be used again */
};

struct sorter {
	struct time_order order; /* `block`: of chunks */
	VEC(struct sorter_chunk) chunks;
	VEC(uint32_t) unused; /* of chunks */
	size_t done; /* of those that were taken, nobody looks at these any more */
};

/* Takes over the chunk.  0 or -ENOMEM; the chunk is then still the caller's. */
int sorter_add(struct sorter *s, const struct feed *f, struct feed_chunk *chunk);
/* Sorts what waits; to be called behind the last add and before the first take, when all that were
 * taken are released.  0 or -ENOMEM. */
int sorter_sort(struct sorter *s);
/* The next sample that is older than `before_ns`, or NULL.  Good until sorter_release(). */
const struct timed_record *sorter_take(struct sorter *s, uint64_t before_ns);
/* Those that were taken up to now are not looked at any more. */
void sorter_release(struct sorter *s, struct perf_input *in);
/* perf_chunk_is_lost() of the chunk it is from. */
bool sorter_is_lost(const struct sorter *s, const struct timed_record *item);
/* Releases the chunks, too. */
void sorter_done(struct sorter *s, struct perf_input *in);
