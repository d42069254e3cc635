/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cell_cache.h - caches the formatted text of a column by the value that it shows, because a
 * long report repeats the same few images and functions on many lines.
 * Layer: present; used by text_table.c and write_csv.c. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct cell_cache {
	struct cached_cell *cells; /* by value; NULL: the cache is off */
	size_t nr_values;
	struct buf text;
};

/* Caches texts of values below `nr_values`.  Caches nothing if memory is short. */
void cell_cache_init(struct cell_cache *c, size_t nr_values);
void cell_cache_done(struct cell_cache *c);
/* Appends the text of a value to `out`.  Returns false if the text is not cached. */
bool cell_cache_put(const struct cell_cache *c, uint64_t value, struct buf *out);
/* Caches a text if there is room for it.  `text` must not point into the cache's own buffer. */
void cell_cache_keep(struct cell_cache *c, uint64_t value, const void *text,
		     size_t len);
