/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/huge.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	HUGE_PAGE = 2 << 20,
	HEAP_STEP = 32 << 20,
	/* Arrays of at least this size get a separate mapping. Smaller ones share the heap,
	 * because the last huge page of a mapping is mostly unused. Larger ones of varying sizes
	 * would leave holes in the heap. */
	BIG_BYTES = 2 * HUGE_PAGE,
	ROOM = 16 << 20,
	HEAP_TRIES = 64,
	TRIED_BYTES = 16 << 10
};

static int huge_is_big(size_t bytes)
{
	return bytes >= BIG_BYTES;
}

static size_t round_up(size_t bytes)
{
	return (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

size_t huge_room(size_t bytes)
{
	return huge_is_big(bytes) && bytes < ROOM ? ROOM : bytes;
}

void *huge_alloc(size_t bytes)
{
	size_t rounded = round_up(bytes);
	void *memory;

	if (!huge_is_big(bytes) || rounded < bytes)
		return malloc(bytes);
	memory = aligned_alloc(HUGE_PAGE, rounded);
	/* Ignore errors: without huge pages, the memory is only slower. */
	if (memory)
		madvise(memory, rounded, MADV_HUGEPAGE);
	return memory;
}

void *huge_map(size_t bytes)
{
	size_t rounded = round_up(bytes);
	uint8_t *memory;
	size_t lead;

	if (rounded + HUGE_PAGE < bytes)
		return NULL;
	memory = mmap(NULL, rounded + HUGE_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	lead = round_up((uintptr_t)memory) - (uintptr_t)memory;
	if (lead)
		munmap(memory, lead);
	memory += lead;
	if (lead != HUGE_PAGE)
		munmap(memory + rounded, HUGE_PAGE - lead);
	madvise(memory, rounded, MADV_HUGEPAGE);
	return memory;
}

void huge_unmap(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, round_up(bytes));
}

void huge_heap(void)
{
#ifdef __GLIBC__
	char *before = sbrk(0);
	void *taken[HEAP_TRIES];
	char *after = before;
	int nr = 0;

	/* Set all three: after one of them is set, glibc no longer adjusts the others. */
	mallopt(M_TOP_PAD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_STEP);
	mallopt(M_MMAP_THRESHOLD, BIG_BYTES);
	/* Grow the heap in small steps and before using it: a page that is touched before
	 * madvise() prevents a huge page around it. */
	while (nr < HEAP_TRIES && after == before) {
		taken[nr++] = malloc(TRIED_BYTES);
		after = sbrk(0);
	}
	while (nr)
		free(taken[--nr]);
	before += round_up((uintptr_t)before) - (uintptr_t)before;
	if (after > before)
		madvise(before, (size_t)(after - before), MADV_HUGEPAGE);
#endif
}

void *huge_zalloc(size_t nr, size_t elem_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(nr, elem_bytes, &bytes))
		return NULL;
	return huge_is_big(bytes) ? huge_map(bytes) : calloc(nr, elem_bytes);
}

void huge_zfree(void *memory, size_t nr, size_t elem_bytes)
{
	if (huge_is_big(nr * elem_bytes))
		huge_unmap(memory, nr * elem_bytes);
	else
		free(memory);
}

/* Moves the mapping to another address that is aligned to a huge page, so that only page tables
 * change. Returns NULL if memory is short. */
static void *move_mapped(void *memory, size_t bytes, size_t more)
{
	void *moved;
	void *to;

	if (round_up(more) < more)
		return NULL;
	to = huge_map(more);
	if (!to)
		return NULL;
	moved = mremap(memory, round_up(bytes), round_up(more),
		       MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (moved != MAP_FAILED)
		return moved;
	/* The failed mremap() may have unmapped `to`, and another thread may have mapped memory
	 * there. */
	to = huge_map(more);
	if (!to)
		return NULL;
	memcpy(to, memory, bytes);
	munmap(memory, round_up(bytes));
	return to;
}

void *huge_zgrow(void *memory, size_t nr, size_t more, size_t elem_bytes)
{
	size_t bytes = nr * elem_bytes;
	size_t more_bytes;
	void *grown;

	if (__builtin_mul_overflow(more, elem_bytes, &more_bytes))
		return NULL;
	if (memory && huge_is_big(bytes))
		return move_mapped(memory, bytes, more_bytes);
	grown = huge_zalloc(more, elem_bytes);
	if (!grown)
		return NULL;
	if (memory)
		memcpy(grown, memory, bytes);
	free(memory);
	return grown;
}

void huge_forget(void *memory, size_t bytes)
{
	uintptr_t from = (uintptr_t)memory;
	size_t lead = round_up(from) - from;

	if (bytes >= lead + HUGE_PAGE)
		madvise((uint8_t *)memory + lead,
			(bytes - lead) & ~(size_t)(HUGE_PAGE - 1), MADV_DONTNEED);
}

void *huge_realloc(void *old, size_t old_bytes, size_t bytes)
{
	void *memory;

	if (!huge_is_big(bytes))
		return realloc(old, bytes);
	memory = huge_alloc(bytes);
	if (!memory)
		return NULL;
	if (old)
		memcpy(memory, old, old_bytes < bytes ? old_bytes : bytes);
	free(old);
	return memory;
}
