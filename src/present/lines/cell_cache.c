/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/cell_cache.h"

#include <stdlib.h>

enum {
	TEXT_MAX = 4 << 20 /* bytes; texts that do not fit are formatted each time */
};

struct cached_cell {
	uint32_t at;         /* offset in the text */
	uint32_t len_plus_1; /* 0: not cached */
};

void cell_cache_init(struct cell_cache *c, size_t nr_values)
{
	*c = (struct cell_cache){ .nr_values = nr_values };
	c->cells = calloc(nr_values + 1, sizeof(*c->cells));
}

void cell_cache_done(struct cell_cache *c)
{
	free(c->cells);
	buf_done(&c->text);
	*c = (struct cell_cache){ 0 };
}

bool cell_cache_put(const struct cell_cache *c, uint64_t value, struct buf *out)
{
	const struct cached_cell *cell;

	if (!c->cells || value >= c->nr_values)
		return false;
	cell = &c->cells[value];
	if (!cell->len_plus_1)
		return false;
	buf_put(out, c->text.data + cell->at, cell->len_plus_1 - 1);
	return true;
}

void cell_cache_keep(struct cell_cache *c, uint64_t value, const void *text, size_t len)
{
	size_t at = c->text.len;

	if (!c->cells || value >= c->nr_values || len > TEXT_MAX - at)
		return;
	buf_put(&c->text, text, len);
	if (c->text.failed)
		return;
	c->cells[value] = (struct cached_cell){ (uint32_t)at, (uint32_t)len + 1 };
}
