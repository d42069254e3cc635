#include "base/huge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	HUGE_PAGE = 2 << 20
};

static int is_big(size_t bytes)
{
	return bytes >= HUGE_PAGE / 2;
}

void *huge_alloc(size_t bytes)
{
	size_t rounded = (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
	void *memory;

	if (!is_big(bytes) || rounded < bytes)
		return malloc(bytes);
	memory = aligned_alloc(HUGE_PAGE, rounded);
	/* Advice only: without huge pages it is slower, not wrong. */
	if (memory)
		madvise(memory, rounded, MADV_HUGEPAGE);
	return memory;
}

/* calloc() knows which memory is fresh from the kernel and does not clear that again. */
void *huge_zalloc(size_t nr, size_t elem_bytes)
{
	char *memory = calloc(nr, elem_bytes);
	size_t bytes = nr * elem_bytes;
	uintptr_t at = (uintptr_t)memory;
	uintptr_t first = (at + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = (at + bytes) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (memory && end > first)
		madvise(memory + (first - at), end - first, MADV_HUGEPAGE);
	return memory;
}

void *huge_realloc(void *old, size_t old_bytes, size_t bytes)
{
	void *memory;

	if (!is_big(bytes))
		return realloc(old, bytes);
	memory = huge_alloc(bytes);
	if (!memory)
		return NULL;
	if (old)
		memcpy(memory, old, old_bytes < bytes ? old_bytes : bytes);
	free(old);
	return memory;
}
