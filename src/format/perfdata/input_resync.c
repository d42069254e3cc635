/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_resync.c - finds the next valid record after damaged bytes. */
#include <string.h>

#include "format/perfdata/input_priv.h"

/* If a record's size is damaged, the position of the next record is unknown and has to be
 * searched. The words of a sample rarely look like the header of a record with a known type and
 * a possible size, and almost never several times in a row. */
enum {
	HEADER_BYTES = sizeof(struct perf_event_header),
	/* This many valid records in a row are not a coincidence. */
	SOUND_RECORDS = 4,
	/* How many bytes to examine: enough for two records of the maximum size. */
	SOUND_BYTES = PERF_LEFT_BYTES,
	/* Fewer records are enough at the end of the data, or before a record that is cut off
	 * there. */
	SOUND_AT_END = 1,
	SOUND_BEFORE_CUT = 2,
	/* A sample can have this many bytes in addition to the fields of its event. */
	SURPLUS_BYTES = 8
};

/* Sample fields of 8 bytes each. */
static const uint64_t fixed_fields =
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
	PERF_SAMPLE_PERIOD;
static const uint64_t later_fields = PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |
				     PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |
				     PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
				     PERF_SAMPLE_CODE_PAGE_SIZE;

void perf_samples_measure(struct perf_input *in)
{
	const struct perf_input_info *info = &in->info;
	uint16_t least = UINT16_MAX, most = 0;

	for (size_t i = 0; i < info->events.nr; i++) {
		uint64_t type = info->events.at[i].attr.sample_type;
		uint64_t words = type & (fixed_fields | later_fields);
		uint16_t size =
			(uint16_t)(HEADER_BYTES + 8 * __builtin_popcountll(words));

		if (size < least)
			least = size;
		if (type != words)
			most = UINT16_MAX;
		else if (most < size + SURPLUS_BYTES)
			most = (uint16_t)(size + SURPLUS_BYTES);
	}
	in->least_sample = info->events.nr ? least : 0;
	in->limits[PERF_RECORD_SAMPLE] = info->events.nr ? most : UINT16_MAX;
}

/* The minimum size of each kernel record, including its header: perf_event_open(2). */
static const uint8_t least_bytes[] = {
	[PERF_RECORD_MMAP] = 48,
	[PERF_RECORD_LOST] = 24,
	[PERF_RECORD_COMM] = 24,
	[PERF_RECORD_EXIT] = 32,
	[PERF_RECORD_THROTTLE] = 32,
	[PERF_RECORD_UNTHROTTLE] = 32,
	[PERF_RECORD_FORK] = 32,
	[PERF_RECORD_READ] = 24,
	[PERF_RECORD_MMAP2] = 80,
	[PERF_RECORD_AUX] = 32,
	[PERF_RECORD_ITRACE_START] = 16,
	[PERF_RECORD_LOST_SAMPLES] = 16,
	[PERF_RECORD_SWITCH_CPU_WIDE] = 16,
	[PERF_RECORD_NAMESPACES] = 24,
	[PERF_RECORD_KSYMBOL] = 32,
	[PERF_RECORD_BPF_EVENT] = 24,
	[PERF_RECORD_CGROUP] = 24,
	[PERF_RECORD_TEXT_POKE] = 24,
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = 16,
};

static bool is_round(struct perf_head h)
{
	return h.type == PERF_USER_FINISHED_ROUND && h.size == HEADER_BYTES;
}

static bool is_plausible(struct perf_input *in, struct perf_head h)
{
	uint16_t most = in->limits[PERF_RECORD_SAMPLE];
	uint8_t class = perf_class_of(in, h.type);

	if (class == CLASS_COMPRESSED)
		return true;
	if (class == CLASS_UNKNOWN || h.size < HEADER_BYTES || h.size % HEADER_BYTES)
		return false;
	if (h.type == PERF_RECORD_SAMPLE)
		return h.size >= in->least_sample && (!most || h.size <= most);
	if (h.type == PERF_USER_FINISHED_ROUND)
		return is_round(h);
	return h.type >= sizeof(least_bytes) || h.size >= least_bytes[h.type];
}

enum sound {
	SOUND_NO,
	SOUND_YES,
	SOUND_OPEN /* undecided: more bytes are needed */
};

/* Decides if the data ends after `nr` valid records, fewer than SOUND_RECORDS. */
static enum sound sound_at_end(unsigned int nr, bool is_whole, bool at_end)
{
	if (!at_end)
		return SOUND_OPEN;
	return nr >= (is_whole ? SOUND_AT_END : SOUND_BEFORE_CUT) ? SOUND_YES
								  : SOUND_NO;
}

/* Checks whether valid records begin at `at`. */
static enum sound looks_sound(struct perf_input *in, const uint8_t *at,
			      const uint8_t *end, bool at_end)
{
	bool is_clipped = end - at >= SOUND_BYTES;
	bool swap = in->info.swap;

	if (is_clipped)
		end = at + SOUND_BYTES;
	for (unsigned int nr = 0; nr < SOUND_RECORDS; nr++) {
		size_t left = (size_t)(end - at), size;
		struct perf_head h;

		if (left < HEADER_BYTES)
			return is_clipped ? SOUND_YES : sound_at_end(nr, !left, at_end);
		h = perf_head_at(at, swap);
		if (!is_plausible(in, h))
			return SOUND_NO;
		if (perf_class_of(in, h.type) == CLASS_PAYLOAD)
			return nr ? SOUND_YES : SOUND_NO;
		size = perf_record_bytes(at, left, h, swap);
		if (size < HEADER_BYTES)
			return SOUND_NO;
		if (size > left)
			return is_clipped ? SOUND_YES : sound_at_end(nr, false, at_end);
		if (nr && is_round(h))
			return SOUND_YES;
		at += size;
	}
	return SOUND_YES;
}

/* Returns the number of bytes from `at` in which no record can begin, judged by type and size
 * only. A file that was not written completely contains zeros there. */
static inline size_t bytes_without_any(const uint8_t *at, bool swap)
{
	struct perf_head h = perf_head_at(at, swap);
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	if (!word)
		return HEADER_BYTES - sizeof(h.type) + 1;
	if (h.type - 1 < PERF_LAST_TYPE && h.size >= HEADER_BYTES)
		return 0;
	return word != PERF_DATA_MAGIC && word != __builtin_bswap64(PERF_DATA_MAGIC);
}

void perf_level_step(struct perf_input *in, struct perf_level *level, size_t len)
{
	level->pos += len;
	in->damage.bad_bytes += len;
}

enum perf_found perf_records_find(struct perf_input *in, struct perf_level *level,
				  bool at_end)
{
	const uint8_t *from = level->win->bytes + level->pos;
	const uint8_t *end = level->win->bytes + level->win->len;
	enum sound sound = SOUND_NO;
	const uint8_t *at;

	for (at = from; end - at >= HEADER_BYTES; at++) {
		size_t step = bytes_without_any(at, in->info.swap);

		if (step) {
			at += step - 1;
			continue;
		}
		if (perf_input_is_magic(at, HEADER_BYTES)) {
			perf_level_step(in, level, (size_t)(at - from));
			return FOUND_HEADER;
		}
		sound = looks_sound(in, at, end, at_end);
		if (sound != SOUND_NO)
			break;
	}
	perf_level_step(in, level, (size_t)(at - from));
	return sound == SOUND_YES ? FOUND_RECORDS : FOUND_NONE;
}
