#include "resolve/replay/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Behind a record as long as this the processor does not see what comes. */
	FAR_BYTES = 2048,
	AHEAD_ITEMS = 8,
	FRONT_LINES = 4, /* the fields of fixed size and the registers */
	LINE_BYTES = 64
};

void sorter_done(struct sorter *s, struct perf_input *in)
{
	for (size_t i = 0; i < s->chunks.nr; i++)
		if (s->chunks.at[i].left)
			perf_input_release(in, &s->chunks.at[i].chunk);
	vec_done(&s->items);
	vec_done(&s->chunks);
	vec_done(&s->unused);
}

bool sorter_is_lost(const struct sorter *s, const struct sorter_item *item)
{
	return perf_chunk_is_lost(&s->chunks.at[item->chunk].chunk);
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
	if (sorter_add_samples(s, f, chunk, number, &kept.left)) {
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

static bool is_before(const struct sorter_item *a, const struct sorter_item *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static int compare_items(const void *left, const void *right)
{
	return is_before(left, right) ? -1 : is_before(right, left);
}

/* The end of the run in order that begins at `from`. */
static size_t sorter_run_end(const struct sorter_item *items, size_t from, size_t nr)
{
	while (++from < nr && !is_before(&items[from], &items[from - 1]))
		;
	return from;
}

/* Two neighbouring runs into one, in `to`. */
static void sorter_merge(const struct sorter_item *a, const struct sorter_item *end_a,
			 const struct sorter_item *end_b, struct sorter_item *to)
{
	const struct sorter_item *b = end_a;

	while (a < end_a && b < end_b)
		*to++ = is_before(b, a) ? *b++ : *a++;
	memcpy(to, a, (size_t)(end_a - a) * sizeof(*a));
	to += end_a - a;
	memcpy(to, b, (size_t)(end_b - b) * sizeof(*b));
}

/* Merges each two runs of `from` into one of `to`.  Returns how many there were. */
static size_t merge_runs(const struct sorter_item *from, struct sorter_item *to,
			 size_t nr)
{
	size_t runs = 0;

	for (size_t at = 0; at < nr; runs++) {
		size_t middle = sorter_run_end(from, at, nr);
		size_t end = middle < nr ? sorter_run_end(from, middle, nr) : nr;

		sorter_merge(from + at, from + middle, from + end, to + at);
		runs += middle < nr;
		at = end;
	}
	return runs;
}

/* A ring's samples are in order nearly all: there are few runs. */
static bool sort_by_runs(struct sorter_item *items, size_t nr)
{
	struct sorter_item *other = malloc(nr * sizeof(*other));

	if (!other)
		return false;
	while (merge_runs(items, other, nr) > 1)
		if (merge_runs(other, items, nr) <= 2)
			break;
	free(other);
	return true;
}

void sorter_sort(struct sorter *s)
{
	/* What is out makes room. */
	if (s->items.nr > s->next)
		memmove(s->items.at, s->items.at + s->next,
			(s->items.nr - s->next) * sizeof(*s->items.at));
	s->items.nr -= s->next;
	s->next = s->done = 0;
	if (s->items.nr && !sort_by_runs(s->items.at, s->items.nr))
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

/* The rings of all CPUs in turn: where the next one lies, the processor does not guess.  What is
 * in front of a stack and behind it is looked at soon. */
static inline void sorter_prefetch_far(const struct sorter_item *item)
{
	if (item->size < FAR_BYTES)
		return;
	for (size_t i = 0; i < FRONT_LINES; i++)
		__builtin_prefetch(item->bytes + i * LINE_BYTES);
	__builtin_prefetch(item->bytes + item->size - 1);
}

const struct sorter_item *sorter_take(struct sorter *s, uint64_t before_ns)
{
	if (s->next == s->items.nr || s->items.at[s->next].time_ns >= before_ns)
		return NULL;
	if (s->items.nr - s->next > AHEAD_ITEMS)
		sorter_prefetch_far(&s->items.at[s->next + AHEAD_ITEMS]);
	return &s->items.at[s->next++];
}

void sorter_release(struct sorter *s, struct perf_input *in)
{
	while (s->done < s->next)
		release_chunk(s, in, s->items.at[s->done++].chunk);
}
