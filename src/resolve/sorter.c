#include "resolve/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sorter_done(struct sorter *s, struct perf_input *in)
{
	for (size_t i = 0; i < s->chunks.nr; i++)
		if (s->chunks.at[i].left)
			perf_input_release(in, &s->chunks.at[i].chunk);
	vec_done(&s->items);
	vec_done(&s->chunks);
	vec_done(&s->unused);
}

static int add_samples(struct sorter *s, const struct feed *f,
		       const struct feed_chunk *chunk, uint32_t number,
		       uint32_t *ret_nr)
{
	struct feed_walk walk = { .order = chunk->order };
	const uint8_t *at;
	uint32_t size;

	*ret_nr = 0;
	while ((at = feed_walk_sample(f, &chunk->chunk, &walk, &size))) {
		struct sorter_item item = {
			.time_ns = f->timeless ? walk.order
					       : feed_sample_time(f, at, size),
			.order = walk.order,
			.bytes = at,
			.size = size,
			.chunk = number,
		};

		if (!vec_push(&s->items, item))
			return -ENOMEM;
		++*ret_nr;
	}
	return 0;
}

int sorter_add(struct sorter *s, const struct feed *f, struct feed_chunk *chunk)
{
	struct sorter_chunk kept = { .chunk = chunk->chunk };
	size_t nr_before = s->items.nr;
	uint32_t number;

	if (s->unused.nr)
		number = s->unused.at[--s->unused.nr];
	else if (vec_push(&s->chunks, kept))
		number = (uint32_t)s->chunks.nr - 1;
	else
		return -ENOMEM;
	if (add_samples(s, f, chunk, number, &kept.left)) {
		s->items.nr = nr_before;
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

static int compare_items(const void *left, const void *right)
{
	const struct sorter_item *a = left;
	const struct sorter_item *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void sorter_sort(struct sorter *s)
{
	/* What is out makes room. */
	if (s->items.nr > s->next)
		memmove(s->items.at, s->items.at + s->next,
			(s->items.nr - s->next) * sizeof(*s->items.at));
	s->items.nr -= s->next;
	s->next = 0;
	if (s->items.nr)
		qsort(s->items.at, s->items.nr, sizeof(*s->items.at), compare_items);
}

static void release_chunk(struct sorter *s, struct perf_input *in, uint32_t number)
{
	struct sorter_chunk *chunk = &s->chunks.at[number];

	if (--chunk->left)
		return;
	perf_input_release(in, &chunk->chunk);
	/* Without the memory for the note the slot stays empty. */
	(void)vec_push(&s->unused, number);
}

const struct sorter_item *sorter_take(struct sorter *s, struct perf_input *in,
				      uint64_t before_ns)
{
	if (s->taken)
		release_chunk(s, in, s->items.at[s->next - 1].chunk);
	s->taken = s->next < s->items.nr && s->items.at[s->next].time_ns < before_ns;
	return s->taken ? &s->items.at[s->next++] : NULL;
}
