/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jitdump.h - reads the files in which a just-in-time compiler records the code that it
 * generates.
 * The format: tools/perf/Documentation/jitdump-specification.txt in Linux, and docs/jit.md; or
 * that of OProfile's own libopagent.
 * Layer: format.
 *
 * Each code block is identified by its offset, the position of its bytes in the file. So new
 * code at a reused address is a different block, moved code stays the same block, and the
 * instructions can be read from that offset. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct err;

enum {
	JITDUMP_NO_CODE = 0xffffffff,
	JITDUMP_NAME_MAX = 64 * 1024, /* bytes of a name; longer names are truncated */
	/* Record types that libopagent adds (docs/jit.md), which other readers skip: code was
	 * unloaded; line numbers of code that was loaded earlier. */
	JITDUMP_UNLOAD = 0x4f70,
	JITDUMP_LINES_OF_LOADED = 0x4f71
};

/* Offsets from here on identify code whose bytes are not in the file. */
#define JITDUMP_NO_BYTES ((uint64_t)1 << 62)

struct jitdump_code {
	uint64_t offset;
	uint64_t size;
	uint64_t address; /* address at which it was loaded first */
	uint32_t name;    /* file offset of its name */
	uint32_t name_len;
	uint32_t lines; /* file offset of the record with its line numbers; 0: none */
	/* File offset of the record with its unwinding tables; 0: none. */
	uint32_t unwind;
};

/* From `time_ns` on, [start, end) contains `code`, or nothing if it is JITDUMP_NO_CODE. */
struct jitdump_event {
	uint64_t time_ns; /* in the writer's clock, usually CLOCK_MONOTONIC */
	uint64_t start;
	uint64_t end;
	uint32_t code;
};

struct jitdump {
	int32_t pid;
	uint32_t machine; /* EM_... of <elf.h> */
	uint64_t begin_ns;
	bool oprofile; /* OProfile's own format: times are seconds since 1970 */
	bool arch_clock; /* times are CPU ticks, which cannot be converted to any known clock */
	bool swap; /* the file has the opposite byte order */
	VEC(struct jitdump_code) codes;
	VEC(struct jitdump_event) events; /* in file order */
	uint64_t nr_bad;                  /* malformed records */
	uint64_t nr_unknown;              /* records of unknown types */
	uint64_t cut_bytes;               /* size of an incomplete record at the end */
	bool closed;
	struct map
		by_index; /* (code_index, 0) and (address, 1) -> code; used while reading */
	uint64_t no_bytes;
};

/* Parses a file in memory, which the caller keeps and frees. Reads only the beginning of a file
 * larger than 4 GiB. Call jitdump_done() in any case. Returns 0, -EBADMSG (not a jitdump) or
 * -ENOMEM. */
int jitdump_read(struct jitdump *dump, const void *bytes, size_t len, struct err *err);
void jitdump_done(struct jitdump *dump);

/* One line number of a code block. */
struct jitdump_line {
	uint64_t address; /* relative to the code's first address */
	uint32_t line;
	uint32_t discriminator;
	const char *file; /* borrowed from the bytes */
};
/* Calls `fn` for each line of a code block, in file order, until it returns nonzero. Returns
 * that value, 0 at the end, or -EBADMSG if the record is truncated. */
int jitdump_lines(const struct jitdump *dump, const void *bytes, size_t len,
		  const struct jitdump_code *code,
		  int (*fn)(void *ctx, const struct jitdump_line *line), void *ctx);

/* Finds the call frame information of a code block, borrowed from `bytes`. It is an
 * .eh_frame section, located after the code at the next multiple of eight bytes from its
 * start. Returns false if it is missing. */
bool jitdump_eh_frame(const struct jitdump *dump, const void *bytes, size_t len,
		      const struct jitdump_code *code, const uint8_t **ret_bytes,
		      size_t *ret_len);
