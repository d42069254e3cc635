/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drain_perf_input.h - reads all records of an input, for the fuzz targets of the perf.data
 * reader. The output must consist of whole records. */
#pragma once
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/input.h"

static inline void drain_chunk(const struct perf_chunk *c, bool swap)
{
	size_t pos = 0;

	while (pos < c->len) {
		struct perf_event_header h;

		if (c->len - pos < sizeof(h))
			abort();
		memcpy(&h, c->bytes + pos, sizeof(h));
		if (swap)
			h.size = __builtin_bswap16(h.size);
		if (h.size < sizeof(h) || h.size > c->len - pos)
			abort();
		pos += h.size;
	}
}

/* Reads to the end. Returns the number of bytes that were read. */
static inline uint64_t drain(struct perf_input *in)
{
	struct perf_chunk c;
	uint64_t bytes = 0;

	while (perf_input_next(in, &c, NULL) == 0) {
		drain_chunk(&c, perf_input_info(in)->swap);
		bytes += c.len;
		perf_input_release(in, &c);
	}
	return bytes;
}
