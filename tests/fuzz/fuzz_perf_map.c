/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_perf_map.c - any bytes as the map of a JIT compiler. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const struct perf_map *map, uint64_t start, uint64_t end)
{
	struct symtab *tab = NULL;

	if (perf_map_symtab(map, start, end, start, &tab))
		return;
	for (size_t i = 0; i < symtab_count(tab); i++) {
		const struct symbol *s = symtab_at(tab, i);

		if (!s->size || s->size > end - start ||
		    s->offset > end - start - s->size ||
		    symtab_find(tab, s->offset) != s)
			abort();
	}
	symtab_free(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map map;

	if (perf_map_read(&map, (const char *)data, size))
		abort();
	for (size_t i = 0; i < map.pieces.nr; i++) {
		const struct perf_map_piece *p = &map.pieces.at[i];

		if (p->start >= p->end || p->function > p->start ||
		    (size_t)p->name + p->name_len > size || !p->name_len ||
		    (i && p[-1].end > p->start))
			abort();
	}
	load(&map, 0, UINT64_MAX);
	load(&map, 0x1000, 0x2000);
	perf_map_done(&map);
	return 0;
}
