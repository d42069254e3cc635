/* SPDX-License-Identifier: GPL-2.0-or-later */
/* huge.h - memory for big arrays, in huge pages where the system has some: page faults and
 * address translation are a good part of the time of a report.
 * Layer: base.  Freed with free(), and realloc() is fine, unless said otherwise. */
#pragma once
#include <stddef.h>

/* As malloc(); what is smaller than two huge pages is plain memory, or the heap's (huge_heap()). */
void *huge_alloc(size_t bytes);
/* Fresh from the kernel, which is all zeros, and at the begin of a huge page: what an allocator gives
 * begins behind one, and its edges are hundreds of faults.  NULL: memory is short.  Of huge_unmap()
 * of the same number, for which NULL is fine. */
void *huge_map(size_t bytes);
void huge_unmap(void *memory, size_t bytes);
/* All zeros.  For arrays that will be used as a whole: it is filled at once.  Freed with
 * huge_zfree() of the same numbers. */
void *huge_zalloc(size_t nr, size_t elem_bytes);
void huge_zfree(void *memory, size_t nr, size_t elem_bytes);
/* As huge_zalloc() of `more` elements, the first `nr` of which are those of `memory`, which was of
 * huge_zalloc() and is taken: its pages move, so that no fresh ones are filled.  NULL: memory is
 * short, and `memory` is as it was. */
void *huge_zgrow(void *memory, size_t nr, size_t more, size_t elem_bytes);
/* Gives back the whole huge pages of the first bytes of `memory`, which are not read any more: what
 * is allocated next gets those pages. */
void huge_forget(void *memory, size_t bytes);
/* As realloc(), of memory whose first `old_bytes` are kept. */
void *huge_realloc(void *old, size_t old_bytes, size_t bytes);
/* For an array that has outgrown `bytes` and may go on: how much to ask for.  What is not written
 * to takes no memory, but each copy to a larger place is filled with zeros first. */
size_t huge_room(size_t bytes);
/* What malloc() gives from now on is in huge pages, too, some megabytes of it: for a command that
 * is about to fill them.  Before threads are started. */
void huge_heap(void);
