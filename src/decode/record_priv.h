/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_priv.h - shared by the files of decode/. */
#pragma once
#include <string.h>

#include "base/cursor.h"
#include "decode/record.h"

enum {
	RECORD_HEADER_BYTES = sizeof(struct perf_event_header),
	RECORD_PERF_MADE_FIRST = 64,
	RECORD_PERF_MADE_COUNT = RECORD_SCHEDSTAT_DOMAIN + 1 - RECORD_PERF_MADE_FIRST
};

/* Decodes the body of one type of record; `in` starts after the header. If the record is too
 * short, in->failed is set. */
typedef void (*record_decode_fn)(struct cursor *in, struct record *rec);

/* Returns `nr` elements of `bytes` bytes each, borrowed. If the record is too short, returns
 * NULL and sets in->failed. */
static inline const uint8_t *record_take_array(struct cursor *in, uint64_t nr,
					       size_t bytes)
{
	if (in->failed || nr > cursor_left(in) / bytes) {
		in->failed = true;
		return NULL;
	}
	return cursor_take(in, nr * bytes);
}

/* Returns the string at the cursor, borrowed from the record. If the record ends before the string
 * does, returns "" and sets in->failed. */
const char *record_take_str(struct cursor *in);
/* Reads the counter values of a sample or PERF_RECORD_READ; `format`: perf_event_attr.read_format.
 * If the record is too short, sets in->failed. */
void record_take_read(struct cursor *in, uint64_t format, struct record_read *ret_read);

static inline uint64_t record_u64(const uint8_t *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t record_u32(const uint8_t *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t record_u16(const uint8_t *at, bool swap)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

/* Returns the size of the fields at the end of records other than samples: perf_event_open(2),
 * struct sample_id. */
static inline uint16_t record_trailer_bytes(const struct perf_event_attr *a)
{
	static const uint64_t words = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	int nr = a->sample_id_all ? __builtin_popcountll(a->sample_type & words) : 0;

	return (uint16_t)((size_t)nr * sizeof(uint64_t));
}

/* Reads the header. Returns the size of the record, or 0 if it is malformed or exceeds `len`. */
static inline size_t record_open(const struct decoder *d, const uint8_t *bytes,
				 size_t len, struct record *rec)
{
	size_t size;

	if (len < RECORD_HEADER_BYTES)
		return 0;
	rec->type = record_u32(bytes, d->swap);
	rec->misc = record_u16(bytes + 4, d->swap);
	size = record_u16(bytes + 6, d->swap);
	return size >= RECORD_HEADER_BYTES && size <= len ? size : 0;
}

/* Returns the index of the attr for the record whose id is `at` bytes from its start; `at` 0:
 * it has no id. Records that perf synthesizes for the time before the recording have the id 0. */
static inline uint32_t record_attr(const struct decoder *d, const uint8_t *bytes,
				   size_t size, size_t at, bool *ret_stray)
{
	uint32_t index;
	uint64_t id;

	*ret_stray = false;
	if (d->attrs.nr < 2 || !at || at + sizeof(id) > size)
		return 0;
	id = record_u64(bytes + at, d->swap);
	if (id - d->first_id < d->by_near_id.nr)
		index = d->by_near_id.at[id - d->first_id];
	else
		index = map_get(&d->by_id, id, 0);
	if (index != MAP_NONE)
		return index;
	*ret_stray = id != 0;
	return 0;
}

int record_malformed(size_t left, struct err *err);
int record_cut_short(const struct record *rec, struct err *err);

/* Indexed by type minus RECORD_PERF_MADE_FIRST. NULL if there is no body to decode. */
extern const record_decode_fn record_perf_made[RECORD_PERF_MADE_COUNT];
