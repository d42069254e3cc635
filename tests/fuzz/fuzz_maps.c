/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_maps.c - any bytes as the text of /proc/PID/maps, read at once and in two reads. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "capture/system/proc_maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses all lines and returns the number of valid ones. Pointers in a parsed line must point
 * into the text. */
static size_t walk(const char *text, size_t len, size_t *pos, bool is_end)
{
	size_t nr = 0;

	for (;;) {
		struct proc_map map;
		size_t before = *pos;
		int r = proc_map_next(text, len, pos, is_end, &map);

		if (r == 1)
			return nr;
		if (*pos <= before || *pos > len)
			abort();
		if (r)
			continue;
		nr++;
		if (map.start > map.end)
			abort();
		if (map.path_len &&
		    (map.path < text || map.path + map.path_len > text + len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t whole = 0;
	size_t halves = 0;
	size_t nr;

	if (walk(text, size, &whole, true) && whole > size)
		abort();
	/* Wherever the text is cut, the first read gives its whole lines and the second the
	 * rest. */
	nr = walk(text, size / 2, &halves, false);
	nr += walk(text, size, &halves, true);
	whole = 0;
	if (nr != walk(text, size, &whole, true))
		abort();
	return 0;
}
