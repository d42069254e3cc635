/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_walk.c - steps from record to record without decoding them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/input_priv.h"

enum {
	HEADER_BYTES = sizeof(struct perf_event_header),
	FIRST_SIMPLEPERF = 32768,
	LAST_SIMPLEPERF = FIRST_SIMPLEPERF + 63,
	/* size of the header of a COMPRESSED2 record, which precedes its data */
	COMPRESSED2_BYTES = HEADER_BYTES + 8,
	COMPRESSED_DATA_MAX = 65519, /* maximum bytes of data in a COMPRESSED2 record */
	TRACING_MAX_BYTES = 64 << 20, /* all events of a kernel need 3 MB */
	LINE_BYTES = 64,
	/* The CPU does not prefetch automatically past a record of this size. */
	FAR_BYTES = 2048,
	FAR_RECORDS = 24,
	NEAR_RECORDS = 4,
	NEAR_LINES = 3,
	/* The kernel maps this many bytes around a page on a fault (fault_around_bytes). */
	AROUND_BYTES = 65536
};

/* Returns the new average size of recent large records, in units of 1/16 byte. */
static inline uint32_t usual_size(uint32_t usual, uint32_t size)
{
	return usual ? usual + size - usual / 16 : size * 16;
}

/* Prefetches later records. Records with stacks have similar sizes: only their call chains and
 * the copied part of the stack differ. A wrong guess costs only the prefetch.
 * Far ahead, this loads the page into the TLB. Prefetching has no effect on an unmapped page,
 * so one byte is read where the next fault-around block begins. Nearby, where the guess is off
 * by a few cache lines at most, this loads the beginning of the record. */
static inline void perf_input_walk_prefetch_far(const uint8_t *at, const uint8_t *limit,
						uint32_t size, uint32_t usual)
{
	const uint8_t *near = at + size + (NEAR_RECORDS - 1) * usual;
	const uint8_t *far = at + FAR_RECORDS * usual;

	if ((size_t)(limit - at) <= size + (FAR_RECORDS + 1) * (size_t)usual)
		return;
	if (((uintptr_t)far ^ (uintptr_t)(far - usual)) >= AROUND_BYTES)
		(void)*(const volatile uint8_t *)far;
	__builtin_prefetch(far);
	for (int i = -1; i < NEAR_LINES - 1; i++)
		__builtin_prefetch(near + i * LINE_BYTES);
}

/* Steps over records that are passed on unparsed, and returns the first other one. Most of the
 * data passes through this loop. The window continues up to `limit`. */
static inline __attribute__((always_inline)) const uint8_t *
step_plain(const uint8_t *at, const uint8_t *end, const uint8_t *limit,
	   const uint16_t *limits, bool swap)
{
	uint32_t usual = 0;

	while (end - at >= HEADER_BYTES) {
		struct perf_head h = perf_head_at(at, swap);

		if (h.type >= PERF_CLASSES || h.size > limits[h.type] ||
		    h.size < HEADER_BYTES || h.size > end - at)
			break;
		if (h.size >= FAR_BYTES) {
			usual = usual_size(usual, h.size);
			perf_input_walk_prefetch_far(at, limit, h.size, usual / 16);
		}
		at += h.size;
	}
	return at;
}

uint8_t perf_class_of(struct perf_input *in, uint32_t type)
{
	if (type < PERF_CLASSES)
		return in->classes[type];
	return in->info.is_simpleperf && type >= FIRST_SIMPLEPERF &&
			       type <= LAST_SIMPLEPERF
		       ? CLASS_PLAIN
		       : CLASS_UNKNOWN;
}

static uint64_t perf_input_walk_load_u64(const uint8_t *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static uint32_t load_u32(const uint8_t *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

/* Sets level->skip to the number of bytes that follow the record: HEADER_TRACING_DATA has it in
 * a u32 after its header, AUXTRACE in a u64. Returns false if the record is too short. */
static bool payload_of(struct perf_input *in, struct perf_level *level,
		       const uint8_t *at, struct perf_head h)
{
	bool swap = in->info.swap;

	if (h.type == PERF_USER_TRACING_DATA && h.size >= HEADER_BYTES + 4) {
		level->skip = load_u32(at + HEADER_BYTES, swap);
		in->keeps_tracing = !in->frozen && level->skip <= TRACING_MAX_BYTES;
		return true;
	}
	if (h.type == PERF_USER_AUXTRACE && h.size >= HEADER_BYTES + 8) {
		level->skip = perf_input_walk_load_u64(at + HEADER_BYTES, swap);
		in->damage.aux_bytes += level->skip;
		return true;
	}
	return false;
}

static int report_info(struct perf_input *in, struct perf_level *level,
		       const uint8_t *at, struct perf_head h)
{
	uint64_t offset = level->base + (uint64_t)(at - level->win->bytes);

	if (in->part || offset < level->info_seen)
		return 0;
	level->info_seen = offset + h.size;
	return perf_info_record(in, h.type, at, h.size);
}

/* Call at the first sample: from now on the list of events does not change, even if a later walk
 * begins before this sample. */
static void freeze(struct perf_input *in)
{
	in->frozen = true;
	in->classes[PERF_RECORD_SAMPLE] = CLASS_PLAIN;
	perf_samples_measure(in);
}

/* Returns whether no writer creates such a record, judged by its first bytes only, so that the
 * result does not depend on how much of the record is available. */
static bool is_bad(struct perf_input *in, struct perf_head h, size_t size)
{
	uint16_t most = in->limits[PERF_RECORD_SAMPLE];

	if (size < HEADER_BYTES)
		return true;
	if (h.type == PERF_RECORD_SAMPLE && most)
		return size > most;
	return perf_class_of(in, h.type) == CLASS_UNKNOWN &&
	       (size % HEADER_BYTES || h.type > PERF_LAST_TYPE);
}

/* Processes a record that is not simply passed on. Returns how many bytes of it belong to the
 * chunk (0: the chunk ends before it), or -ENOMEM. */
static int step_other(struct perf_input *in, struct perf_level *level,
		      const uint8_t *at, struct perf_head h, enum perf_stop *stop)
{
	int r;

	switch (perf_class_of(in, h.type)) {
	case CLASS_UNKNOWN:
		in->damage.unknown_records++;
		return h.size;
	case CLASS_INFO:
		r = report_info(in, level, at, h);
		return r < 0 ? r : h.size;
	case CLASS_FIRST_SAMPLE:
		freeze(in);
		if (is_bad(in, h, h.size))
			*stop = STOP_BAD;
		return *stop == STOP_BAD ? 0 : h.size;
	case CLASS_PAYLOAD:
		*stop = payload_of(in, level, at, h) ? STOP_PAYLOAD : STOP_BAD;
		return *stop == STOP_BAD ? 0 : h.size;
	case CLASS_COMPRESSED:
		*stop = STOP_COMPRESSED;
		return 0;
	default:
		return h.size;
	}
}

/* Returns whether the size of a COMPRESSED2 record is wrong, and stores the number of bytes of its
 * data. In perf of Linux 6.16, the size overflows its 16 bits if the record and its padding are
 * too long; then there is no padding. If the data is longer than one record can hold, it is split
 * into several records: the first has the size of all the data, and the others lack a data size. */
static bool overflowed(const uint8_t *at, size_t left, struct perf_head h, bool swap,
		       uint64_t *ret_len)
{
	uint64_t len, padded;

	if (h.type != PERF_USER_COMPRESSED2 || left < COMPRESSED2_BYTES)
		return false;
	len = perf_input_walk_load_u64(at + HEADER_BYTES, swap);
	if (len > COMPRESSED_DATA_MAX * 1024ULL)
		return false;
	padded = (COMPRESSED2_BYTES + len + 7) & ~7ULL;
	*ret_len = len;
	return padded > UINT16_MAX && (uint16_t)padded == h.size;
}

size_t perf_record_bytes(const uint8_t *at, size_t left, struct perf_head h, bool swap)
{
	uint64_t len;

	if (h.type == PERF_USER_COMPRESSED2 && left < COMPRESSED2_BYTES)
		return COMPRESSED2_BYTES;
	if (!overflowed(at, left, h, swap, &len))
		return h.size;
	return COMPRESSED2_BYTES +
	       (len < COMPRESSED_DATA_MAX ? len : COMPRESSED_DATA_MAX);
}

/* Loads data into the CPU cache ahead of the walk. After direct I/O it is in no cache, and the
 * walk would wait for each cache miss in turn; reading every line first makes the misses
 * overlap. */
static void bring_near(struct perf_window *win, const uint8_t *end)
{
	const uint8_t *at = win->bytes + win->far;

	if (at >= end)
		return;
	for (; at < end; at += LINE_BYTES)
		(void)*(const volatile uint8_t *)at;
	win->far = (size_t)(end - win->bytes);
}

static const uint8_t *perf_input_walk_end_of(const struct perf_window *win)
{
	return win->bytes + (win->len < win->filled ? win->filled : win->len);
}

int perf_walk(struct perf_input *in, struct perf_level *level, size_t *ret_len,
	      enum perf_stop *ret_stop)
{
	const uint8_t *first = level->win->bytes + level->pos;
	const uint8_t *end = level->win->bytes + level->win->len;
	const uint8_t *limit = perf_input_walk_end_of(level->win);
	const uint8_t *at = first;
	bool swap = in->info.swap;

	if (level->win->is_direct)
		bring_near(level->win, end);
	for (*ret_stop = STOP_SHORT; *ret_stop == STOP_SHORT;) {
		struct perf_head h;
		size_t size;
		int r;

		at = swap ? step_plain(at, end, limit, in->limits, true)
			  : step_plain(at, end, limit, in->limits, false);
		if (end - at < HEADER_BYTES)
			break;
		h = perf_head_at(at, swap);
		size = perf_record_bytes(at, (size_t)(end - at), h, swap);
		if (perf_input_is_magic(at, HEADER_BYTES))
			*ret_stop = STOP_HEADER;
		else if (is_bad(in, h, size))
			*ret_stop = STOP_BAD;
		if (*ret_stop != STOP_SHORT || size > (size_t)(end - at))
			break;
		r = step_other(in, level, at, h, ret_stop);
		if (r < 0)
			return r;
		at += r;
	}
	*ret_len = (size_t)(at - first);
	return 0;
}

bool perf_frame_of(struct perf_input *in, const uint8_t *at, size_t size,
		   struct perf_head h, const uint8_t **ret_bytes, size_t *ret_len)
{
	uint64_t offset = in->raw.base + in->raw.pos;
	bool swap = in->info.swap;
	uint64_t len;

	if (h.type == PERF_USER_COMPRESSED) {
		*ret_bytes = at + HEADER_BYTES;
		*ret_len = size - HEADER_BYTES;
		return true;
	}
	if (size < COMPRESSED2_BYTES)
		return false;
	*ret_bytes = at + COMPRESSED2_BYTES;
	*ret_len = size - COMPRESSED2_BYTES;
	if (overflowed(at, size, h, swap, &len)) {
		in->unsized_end = offset + COMPRESSED2_BYTES + len;
		return true;
	}
	if (offset < in->unsized_end)
		return true;
	len = perf_input_walk_load_u64(at + HEADER_BYTES, swap);
	if (len > *ret_len)
		return false;
	*ret_len = len;
	return true;
}
