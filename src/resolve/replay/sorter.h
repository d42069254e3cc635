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

struct sorter_item {
	uint64_t time_ns;
	uint64_t order; /* in the file */
	const uint8_t *bytes;
	uint32_t size;
	uint32_t chunk; /* of sorter.chunks */
};

struct sorter_chunk {
	struct perf_chunk chunk;
	uint32_t left; /* samples that wait; 0: released, to be used again */
};

struct sorter {
	VEC(struct sorter_item) items;
	VEC(struct sorter_chunk) chunks;
	VEC(uint32_t) unused; /* of chunks */
	size_t next;          /* items before it are out, ... */
	size_t done;          /* ... and before it nobody looks at them any more */
};

/* Takes over the chunk.  0 or -ENOMEM; the chunk is then still the caller's. */
int sorter_add(struct sorter *s, const struct feed *f, struct feed_chunk *chunk);
/* Sorts what waits; to be called behind the last add and before the first take, when all that were
 * taken are released. */
void sorter_sort(struct sorter *s);
/* The next sample that is older than `before_ns`, or NULL.  Good until sorter_release(). */
const struct sorter_item *sorter_take(struct sorter *s, uint64_t before_ns);
/* Those that were taken up to now are not looked at any more. */
void sorter_release(struct sorter *s, struct perf_input *in);
/* perf_chunk_is_lost() of the chunk it is from. */
bool sorter_is_lost(const struct sorter *s, const struct sorter_item *item);
/* Releases the chunks, too. */
void sorter_done(struct sorter *s, struct perf_input *in);
