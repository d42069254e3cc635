/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_maker.h - perf.data files made by hand, in either byte order. */
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
	/* Where perf_maker_file() puts things. */
	MAKER_HEADER = 104,
	MAKER_IDS = MAKER_HEADER,
	MAKER_NR_IDS = 2,
	MAKER_ATTRS = MAKER_IDS + MAKER_NR_IDS * 8,
};

void put2(struct perf_maker *m, uint16_t v);
void put4(struct perf_maker *m, uint32_t v);
void put8(struct perf_maker *m, uint64_t v);
/* Text and NUL, filled up with zeros to `bytes`. */
void put_text(struct perf_maker *m, const char *text, size_t bytes);
void set8(struct perf_maker *m, size_t at, uint64_t v);
/* type, misc, size of a record. */
void put_head(struct perf_maker *m, uint32_t type, uint16_t misc, size_t size);
/* A record of `size` bytes whose body is the byte `fill`. */
void put_record(struct perf_maker *m, uint32_t type, size_t size, uint8_t fill);
/* An attr of `bytes` bytes: cpu-clock, samples of any size, user only, precise_ip 1, period 1000. */
void put_attr(struct perf_maker *m, size_t bytes);
/* Header, two ids 7 and 8, one attr: what lies before the data. */
void maker_front(struct perf_maker *m, size_t attr_bytes);
/* The event's samples bring 8 KB of user stack: such files are mapped, others read. */
void maker_ask_for_stacks(struct perf_maker *m);
/* The data ends here: completes the header.  Bits of `features` (below 64) are set; their
 * index is the caller's to write. */
void maker_data_end(struct perf_maker *m, uint64_t features);
/* The entry of the next feature: it begins `skip` bytes behind the place where it would if
 * the index ended here and has `size` bytes. */
void put_section(struct perf_maker *m, uint64_t offset, uint64_t size);

/* The bytes as a file in memory. */
int maker_fd(const struct perf_maker *m);
int maker_fd_of(const void *bytes, size_t len);

/* What a reader makes of it. */
struct seen {
	int opened; /* result of the opening */
	int result; /* of the last next() */
	struct perf_input_damage damage;
	uint64_t bytes; /* in chunks */
	uint64_t ends;  /* a mark of where chunks end */
	uint64_t records;
	uint64_t types[128];
	struct buf all;
};

/* Reads to the end; the input is closed unless ret_input. */
void maker_read(int fd, struct seen *ret_seen, struct perf_input **ret_input);
void maker_read_all(struct perf_input *in, struct seen *seen);
/* Reads to the end with the n-th allocation failing (alloc_fail.h): what came of it.  False: there are
 * not so many. */
bool maker_read_short(int fd, unsigned long n, int *ret_result);
