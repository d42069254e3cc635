/* huge.h - memory for big arrays, in huge pages where the system has some: page faults and
 * address translation are a good part of the time of a report.
 * Layer: base.  Freed with free(), and realloc() is fine, unless said otherwise. */
#pragma once
#include <stddef.h>

/* As malloc(); what is smaller than half a huge page is plain memory. */
void *huge_alloc(size_t bytes);
/* All zeros.  For arrays that will be used as a whole: it is filled at once.  Freed with
 * huge_zfree() of the same numbers. */
void *huge_zalloc(size_t nr, size_t elem_bytes);
void huge_zfree(void *memory, size_t nr, size_t elem_bytes);
/* As realloc(), of memory whose first `old_bytes` are kept. */
void *huge_realloc(void *old, size_t old_bytes, size_t bytes);
/* What malloc() gives from now on is in huge pages, too, some megabytes of it: for a command that
 * is about to fill them.  Before threads are started. */
void huge_heap(void);
