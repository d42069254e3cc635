/* gmon.h - writes gmon.out files, which gprof reads.
 * Layer: format.  Source: gmon_out.h of the GNU C library and of binutils.
 *
 * A header ("gmon", version 1, 12 zero bytes), then records behind a byte that says which:
 *	0 histogram: low pc, high pc (as large as the binary's addresses), number of bins (4),
 *	  rate (4), what is counted (15 bytes and its letter), then bins of 2 bytes
 *	1 call: pc of the call, pc of what is called, number (4)
 * All numbers have the byte order of the binary. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

struct gmon {
	struct buf *out; /* errors are in out->failed */
	unsigned int addr_bytes;
	bool big_endian;
};

struct gmon_bins {
	uint64_t low;           /* address of the first one */
	unsigned int bin_bytes; /* of code in each */
	const uint64_t *counts;
	uint32_t nr;
};

void gmon_put_header(const struct gmon *g);
/* Counts that a bin has no room for go on in further records of the same range: gprof adds them
 * up. */
void gmon_put_bins(const struct gmon *g, const struct gmon_bins *bins);
/* Likewise. */
void gmon_put_calls(const struct gmon *g, uint64_t from, uint64_t to, uint64_t nr);
