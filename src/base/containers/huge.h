/* SPDX-License-Identifier: GPL-2.0-or-later */
/* huge.h - memory for large arrays, in huge pages if the system supports them: page faults and
 * address translation take a considerable part of a report's time.
 * Layer: base.  Free with free(); realloc() also works, unless noted otherwise. */
#pragma once
#include <stddef.h>

/* Like malloc(). Sizes below two huge pages come from plain memory, or from huge_heap(). */
void *huge_alloc(size_t bytes);
/* Maps zeroed memory from the kernel, aligned to a huge page. (Memory of malloc() is not aligned
 * to huge pages, and the small pages at both ends cost hundreds of page faults.) Returns NULL if
 * memory is short. Free it with huge_unmap() and the same size, which accepts NULL. */
void *huge_map(size_t bytes);
void huge_unmap(void *memory, size_t bytes);
/* Allocates zeroed memory for arrays that will be used completely: all pages are populated at
 * once. Returns NULL if memory is short. Free it with huge_zfree() and the same numbers. */
void *huge_zalloc(size_t nr, size_t elem_bytes);
void huge_zfree(void *memory, size_t nr, size_t elem_bytes);
/* Grows memory of huge_zalloc() from `nr` to `more` elements, by moving its pages instead of
 * populating new ones. Takes ownership of `memory`. Returns NULL if memory is short; `memory`
 * is then unchanged. */
void *huge_zgrow(void *memory, size_t nr, size_t more, size_t elem_bytes);
/* Returns to the system the huge pages that lie completely in the first `bytes` of `memory`. The
 * caller must not use their contents again; later allocations can reuse the memory. */
void huge_forget(void *memory, size_t bytes);
/* Like realloc(). The first `old_bytes` are kept. */
void *huge_realloc(void *old, size_t old_bytes, size_t bytes);
/* Returns how many bytes to allocate for an array that needs `bytes` now and may grow further. For
 * a large array, this can be far more than `bytes`. That costs little, because memory that is not
 * touched is not allocated, while each copy to a larger block must first zero that block. */
size_t huge_room(size_t bytes);
/* Makes the next megabytes of malloc() come from huge pages, for a command that will soon fill
 * them. Call it before starting threads. */
void huge_heap(void);
