/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gmon.h - writes gmon.out files, which gprof reads.
 * Layer: format.  Source: gmon_out.h of the GNU C library and of binutils.
 *
 * A header ("gmon", version 1, 12 zero bytes) is followed by records. Each begins with a byte for
 * its type:
 *     0 histogram: low pc, high pc (as large as the binary's addresses), number of bins (4 bytes),
 *       rate (4), unit (15 bytes and its abbreviation, 1 byte), then bins of 2 bytes
 *     1 call: pc of the caller, pc of the callee, number of calls (4)
 * All numbers have the byte order of the binary. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct gmon {
	struct buf *out; /* receives the output; on an error, sets out->failed */
	unsigned int addr_bytes;
	bool big_endian;
};

struct gmon_bins {
	uint64_t low;           /* address of the first bin */
	unsigned int bin_bytes; /* bytes of code per bin */
	const uint64_t *counts;
	uint32_t nr;
};

void gmon_put_header(const struct gmon *g);
/* Writes a histogram. If a count exceeds the maximum of a bin, writes the rest to further
 * records of the same range, which gprof adds up. */
void gmon_put_bins(const struct gmon *g, const struct gmon_bins *bins);
/* Writes a call. Splits large counts into several records. */
void gmon_put_calls(const struct gmon *g, uint64_t from, uint64_t to, uint64_t nr);
