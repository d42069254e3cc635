/* cell_cache.h - the finished text of a column by the value that it shows: a long report
 * names the same few images and functions in many lines.
 * Layer: present; used by text_table.c and write_csv.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct cell_cache {
	struct cached_cell *cells; /* by value; NULL: nothing is kept */
	size_t nr_values;
	struct buf text;
};

/* For values below `nr_values`.  Short of memory it keeps nothing. */
void cell_cache_init(struct cell_cache *c, size_t nr_values);
void cell_cache_done(struct cell_cache *c);
/* Appends the text of a value to `out`; false: it is not kept. */
bool cell_cache_put(const struct cell_cache *c, uint64_t value, struct buf *out);
/* Keeps a text if there is still room for it; it may lie in any buffer but the cache's. */
void cell_cache_keep(struct cell_cache *c, uint64_t value, const void *text,
		     size_t len);
