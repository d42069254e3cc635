/* huge.h - memory for big arrays, in huge pages where the system has some: page faults and
 * address translation are a good part of the time of a report.
 * Layer: base.  Freed with free(); realloc() is fine, too. */
#pragma once
#include <stddef.h>

/* As malloc(); what is smaller than half a huge page is plain memory. */
void *huge_alloc(size_t bytes);
/* All zeros.  For arrays that will be used as a whole: it is filled at once. */
void *huge_zalloc(size_t nr, size_t elem_bytes);
/* As realloc(), of memory whose first `old_bytes` are kept. */
void *huge_realloc(void *old, size_t old_bytes, size_t bytes);
