/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/gmon.h"

#include <string.h>

#include "base/buf.h"

enum {
	VERSION = 1,
	SPARE_BYTES = 12,
	TAG_HISTOGRAM = 0,
	TAG_CALL = 1,
	RATE = 1,
	DIMENSION_BYTES = 15,
	COUNT_BYTES = 4,
	BIN_BYTES = 2,
	BYTE_BITS = 8
};

/* The unit of the histogram, as in files of OProfile's opgprof. */
static const char dimension[DIMENSION_BYTES] = "samples";

static void gmon_put_number(const struct gmon *g, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		unsigned int at = g->big_endian ? bytes - 1 - i : i;

		buf_put_u8(g->out, (uint8_t)(value >> at * BYTE_BITS));
	}
}

void gmon_put_header(const struct gmon *g)
{
	static const char spare[SPARE_BYTES];

	buf_put(g->out, "gmon", 4);
	gmon_put_number(g, VERSION, COUNT_BYTES);
	buf_put(g->out, spare, sizeof(spare));
}

/* Writes one of the histogram records of `b`. Bins hold at most 65535, so larger counts are
 * split over several records; `part` is the number of the record. Writes nothing and returns
 * false if no count reaches this record. */
static bool put_record(const struct gmon *g, const struct gmon_bins *b, uint64_t part)
{
	size_t start = g->out->len;
	bool some = false;

	buf_put_u8(g->out, TAG_HISTOGRAM);
	gmon_put_number(g, b->low, g->addr_bytes);
	gmon_put_number(g, b->low + (uint64_t)b->nr * b->bin_bytes, g->addr_bytes);
	gmon_put_number(g, b->nr, COUNT_BYTES);
	gmon_put_number(g, RATE, COUNT_BYTES);
	buf_put(g->out, dimension, sizeof(dimension));
	buf_put_u8(g->out, '1');
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t left = b->counts[i] / UINT16_MAX >= part
					? b->counts[i] - part * UINT16_MAX
					: 0;

		gmon_put_number(g, left < UINT16_MAX ? left : UINT16_MAX, BIN_BYTES);
		some |= left > 0;
	}
	if (!some)
		g->out->len = start;
	return some;
}

void gmon_put_bins(const struct gmon *g, const struct gmon_bins *bins)
{
	for (uint64_t part = 0; put_record(g, bins, part) && !g->out->failed;)
		part++;
}

void gmon_put_calls(const struct gmon *g, uint64_t from, uint64_t to, uint64_t nr)
{
	while (nr && !g->out->failed) {
		uint64_t some = nr < UINT32_MAX ? nr : UINT32_MAX;

		buf_put_u8(g->out, TAG_CALL);
		gmon_put_number(g, from, g->addr_bytes);
		gmon_put_number(g, to, g->addr_bytes);
		gmon_put_number(g, some, COUNT_BYTES);
		nr -= some;
	}
}
