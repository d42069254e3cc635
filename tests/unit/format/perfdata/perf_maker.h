/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_maker.h - makes perf.data files by hand, in either byte order. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "format/perfdata/input.h"

struct perf_maker {
	struct buf out;
	bool big; /* endian */
};

enum {
	/* File offsets that maker_front() uses. */
	MAKER_HEADER = 104,
	MAKER_IDS = MAKER_HEADER,
	MAKER_NR_IDS = 2,
	MAKER_ATTRS = MAKER_IDS + MAKER_NR_IDS * 8,
};

void put2(struct perf_maker *m, uint16_t v);
void put4(struct perf_maker *m, uint32_t v);
void put8(struct perf_maker *m, uint64_t v);
/* Writes the text and a NUL, padded with zeros to `bytes`. */
void put_text(struct perf_maker *m, const char *text, size_t bytes);
void set8(struct perf_maker *m, size_t at, uint64_t v);
/* Writes type, misc and size of a record. */
void put_head(struct perf_maker *m, uint32_t type, uint16_t misc, size_t size);
/* Writes a record of `size` bytes whose body consists of the byte `fill`. */
void put_record(struct perf_maker *m, uint32_t type, size_t size, uint8_t fill);
/* Writes an attr of `bytes` bytes: cpu-clock, samples of any size, user only, precise_ip 1,
 * period 1000. */
void put_attr(struct perf_maker *m, size_t bytes);
/* Writes the header, the ids 7 and 8, and one attr: everything before the data. */
void maker_front(struct perf_maker *m, size_t attr_bytes);
/* Gives the event's samples 8 KB of user stack: such files are mapped, others are read. */
void maker_ask_for_stacks(struct perf_maker *m);
/* Ends the data and completes the header. The bits of `features` (below 64) are set; the caller
 * writes their index. */
void maker_data_end(struct perf_maker *m, uint64_t features);
/* Writes the index entry of the next feature: it has `size` bytes, and begins `skip` bytes
 * after the end of the index if this were the last entry. */
void put_section(struct perf_maker *m, uint64_t offset, uint64_t size);

/* Returns the bytes as a file in memory. */
int maker_fd(const struct perf_maker *m);
int maker_fd_of(const void *bytes, size_t len);

/* The result of reading a file. */
struct seen {
	int opened; /* result of the opening */
	int result; /* of the last next() */
	struct perf_input_damage damage;
	uint64_t bytes; /* in chunks */
	uint64_t ends;  /* a hash of the positions where chunks end */
	uint64_t records;
	uint64_t types[128];
	struct buf all;
};

/* Reads to the end, then closes the input unless ret_input is set. */
void maker_read(int fd, struct seen *ret_seen, struct perf_input **ret_input);
void maker_read_all(struct perf_input *in, struct seen *seen);
/* Reads to the end with the n-th allocation failing (alloc_fail.h). Returns false if there are
 * fewer allocations. */
bool maker_read_short(int fd, unsigned long n, int *ret_result);
