/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/side_band.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK_BYTES = 1 << 16 /* more than the longest record */
};

/* The static analyzer does not see that `at` is set if `nr`, or the number of unused blocks, is
 * not 0. */
/* NOLINTBEGIN(clang-analyzer-core.NullDereference) */
/* Returns the index of a free slot for a block, or SIZE_MAX if memory is short. */
static size_t block_slot(struct side_band *s)
{
	size_t i = 0;

	if (!s->nr_unused)
		return vec_push(&s->blocks, (struct side_band_block){ 0 })
			       ? s->blocks.nr - 1
			       : SIZE_MAX;
	while (s->blocks.at[i].bytes)
		i++;
	s->nr_unused--;
	return i;
}

/* Makes `filled` a block with enough room. Returns false if memory is short. */
static bool find_room(struct side_band *s, size_t len)
{
	struct side_band_block *b = s->blocks.nr ? &s->blocks.at[s->filled] : NULL;
	uint8_t *bytes;
	size_t slot;

	if (b && b->bytes && BLOCK_BYTES - b->used >= len)
		return true;
	bytes = malloc(BLOCK_BYTES);
	slot = bytes ? block_slot(s) : SIZE_MAX;
	if (slot == SIZE_MAX) {
		free(bytes);
		return false;
	}
	s->blocks.at[slot] = (struct side_band_block){ .bytes = bytes };
	s->filled = slot;
	return true;
}
/* NOLINTEND(clang-analyzer-core.NullDereference) */

int side_band_add(struct side_band *s, uint64_t time_ns, const void *bytes, size_t len)
{
	struct timed_record record = { .time_ns = time_ns, .size = (uint32_t)len };
	struct side_band_block *b;

	if (!find_room(s, len))
		return -ENOMEM;
	b = &s->blocks.at[s->filled];
	record.block = (uint32_t)s->filled;
	record.bytes = b->bytes + b->used;
	if (time_order_add(&s->order, &record))
		return -ENOMEM;
	memcpy(b->bytes + b->used, bytes, len);
	b->used += len;
	b->left++;
	return 0;
}

/* Counts one record of a block as removed. If none are left, frees the block, or reuses it if
 * it is the one being filled. */
static void release_record(struct side_band *s, uint32_t block)
{
	struct side_band_block *b = &s->blocks.at[block];

	if (--b->left)
		return;
	b->used = 0;
	if (block == s->filled)
		return;
	free(b->bytes);
	b->bytes = NULL;
	s->nr_unused++;
}

void side_band_unadd(struct side_band *s)
{
	time_order_unadd(&s->order);
	release_record(s, (uint32_t)s->filled);
}

int side_band_give(struct side_band *s, uint64_t until_ns, side_band_fn fn, void *ctx)
{
	const struct timed_record *record;
	int result = time_order_sort(&s->order);

	while (!result && (record = time_order_take(&s->order, until_ns))) {
		result = fn(ctx, record);
		release_record(s, record->block);
	}
	return result;
}

static int move_one(void *ctx, const struct timed_record *record)
{
	return side_band_add(ctx, record->time_ns, record->bytes, record->size);
}

int side_band_move(struct side_band *s, uint64_t until_ns, struct side_band *to)
{
	return side_band_give(s, until_ns, move_one, to);
}

void side_band_done(struct side_band *s)
{
	for (size_t i = 0; i < s->blocks.nr; i++)
		free(s->blocks.at[i].bytes);
	vec_done(&s->blocks);
	time_order_done(&s->order);
	*s = (struct side_band){ 0 };
}
