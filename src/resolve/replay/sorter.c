/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/sorter.h"

#include <errno.h>

enum {
	/* After a record of this length, hardware prefetching does not reach the next one. */
	FAR_BYTES = 2048,
	AHEAD_ITEMS = 8,
	/* Cache lines to prefetch: the fields of fixed size and the registers. */
	FRONT_LINES = 4,
	LINE_BYTES = 64
};

void sorter_done(struct sorter *s, struct perf_input *in)
{
	for (size_t i = 0; i < s->chunks.nr; i++)
		if (s->chunks.at[i].left)
			perf_input_release(in, &s->chunks.at[i].chunk);
	time_order_done(&s->order);
	vec_done(&s->chunks);
	vec_done(&s->unused);
}

bool sorter_is_lost(const struct sorter *s, const struct timed_record *item)
{
	return perf_chunk_is_lost(&s->chunks.at[item->block].chunk);
}

static int sorter_add_samples(struct sorter *s, const struct feed *f,
			      const struct feed_chunk *chunk, uint32_t number,
			      uint32_t *ret_nr)
{
	struct feed_walk walk = { .order = chunk->order };
	const uint8_t *at;
	uint32_t size;

	*ret_nr = 0;
	while ((at = feed_walk_sample(f, &chunk->chunk, &walk, &size))) {
		struct timed_record item = {
			.time_ns = f->timeless ? walk.order
					       : feed_sample_time(f, at, size),
			.order = walk.order,
			.bytes = at,
			.size = size,
			.block = number,
		};

		if (time_order_add(&s->order, &item))
			return -ENOMEM;
		++*ret_nr;
	}
	return 0;
}

int sorter_add(struct sorter *s, const struct feed *f, struct feed_chunk *chunk)
{
	struct sorter_chunk kept = { .chunk = chunk->chunk };
	uint32_t number;

	if (s->unused.nr)
		number = s->unused.at[--s->unused.nr];
	else if (vec_push(&s->chunks, kept))
		number = (uint32_t)s->chunks.nr - 1;
	else
		return -ENOMEM;
	if (sorter_add_samples(s, f, chunk, number, &kept.left)) {
		while (kept.left--)
			time_order_unadd(&s->order);
		return -ENOMEM;
	}
	s->chunks.at[number] = kept;
	if (!kept.left) {
		perf_input_release(f->in, &kept.chunk);
		(void)vec_push(&s->unused, number);
	}
	chunk->chunk = (struct perf_chunk){ 0 };
	return 0;
}

int sorter_sort(struct sorter *s)
{
	int result = time_order_sort(&s->order);

	s->done = s->order.next;
	return result;
}

static void release_chunk(struct sorter *s, struct perf_input *in, uint32_t number)
{
	struct sorter_chunk *chunk = &s->chunks.at[number];

	if (--chunk->left)
		return;
	perf_input_release(in, &chunk->chunk);
	/* If memory is too short to note that the slot is unused, it is not reused. */
	(void)vec_push(&s->unused, number);
}

/* Prefetches a later sample: the order alternates between the rings of the CPUs, so the CPU
 * cannot predict addresses. The fields before and after a stack are needed soon. */
static inline void sorter_prefetch_far(const struct timed_record *item)
{
	if (item->size < FAR_BYTES)
		return;
	for (size_t i = 0; i < FRONT_LINES; i++)
		__builtin_prefetch(item->bytes + i * LINE_BYTES);
	__builtin_prefetch(item->bytes + item->size - 1);
}

const struct timed_record *sorter_take(struct sorter *s, uint64_t before_ns)
{
	const struct timed_record *item =
		before_ns ? time_order_take(&s->order, before_ns - 1) : NULL;

	if (item && time_order_waiting(&s->order) >= AHEAD_ITEMS)
		sorter_prefetch_far(&item[AHEAD_ITEMS]);
	return item;
}

void sorter_release(struct sorter *s, struct perf_input *in)
{
	while (s->done < s->order.next)
		release_chunk(s, in, s->order.records.at[s->done++].block);
}
