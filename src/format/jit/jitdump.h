/* jitdump.h - the file in which a just-in-time compiler tells of its code as it comes and goes.
 * The format: tools/perf/Documentation/jitdump-specification.txt in Linux, and docs/jit.md; or
 * that of OProfile's own libopagent.
 * Layer: format.
 *
 * Each piece of code gets a place of its own, its offset: where its bytes are in the file.  So code
 * that takes another's address is another thing, code that is moved stays what it is, and who
 * wants to show instructions finds them there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct err;

enum {
	JITDUMP_NO_CODE = 0xffffffff,
	JITDUMP_NAME_MAX = 64 * 1024, /* bytes of a name; more is cut */
	/* Ours, of libopagent (docs/jit.md); other readers skip them: code was unloaded; lines of
	 * code that was loaded before. */
	JITDUMP_UNLOAD = 0x4f70,
	JITDUMP_LINES_OF_LOADED = 0x4f71
};

/* From here on places of code whose bytes the file does not have. */
#define JITDUMP_NO_BYTES ((uint64_t)1 << 62)

struct jitdump_code {
	uint64_t offset;
	uint64_t size;
	uint64_t address; /* where it was loaded first */
	uint32_t name;    /* where its name begins in the file ... */
	uint32_t name_len;
	uint32_t lines;  /* where the record with its lines begins; 0: none */
	uint32_t unwind; /* ... and that with its unwinding tables */
};

/* From `time_ns` on, `code` is at [start, end); JITDUMP_NO_CODE: nothing is. */
struct jitdump_event {
	uint64_t time_ns; /* of the writer's clock, mostly CLOCK_MONOTONIC */
	uint64_t start;
	uint64_t end;
	uint32_t code;
};

struct jitdump {
	int32_t pid;
	uint32_t machine; /* EM_... of <elf.h> */
	uint64_t begin_ns;
	bool oprofile; /* it is of OProfile's own format: times are seconds since 1970 */
	bool arch_clock; /* times are the processor's own: of no clock that is known here */
	bool swap;       /* the file has the other byte order */
	VEC(struct jitdump_code) codes;
	VEC(struct jitdump_event) events; /* as they come in the file */
	uint64_t nr_bad;                  /* records that make no sense */
	uint64_t nr_unknown;              /* records of a kind that is not known */
	uint64_t cut_bytes;               /* at the end: what is no whole record */
	bool closed;
	struct map
		by_index; /* (code_index, 0) and (address, 1) -> code; for the reading */
	uint64_t no_bytes;
};

/* Reads a file in memory, which stays the caller's; of more than 4 GiB only the beginning.
 * jitdump_done() in any case.  0, -EBADMSG (it is none) or -ENOMEM. */
int jitdump_read(struct jitdump *dump, const void *bytes, size_t len, struct err *err);
void jitdump_done(struct jitdump *dump);

/* The lines of a piece of code, in the order of the file. */
struct jitdump_line {
	uint64_t address; /* as of the code's first address */
	uint32_t line;
	uint32_t discriminator;
	const char *file; /* borrowed from the bytes */
};
/* Calls `fn` for each until it returns something else than 0.  What it returned; -EBADMSG: the
 * record is cut short. */
int jitdump_lines(const struct jitdump *dump, const void *bytes, size_t len,
		  const struct jitdump_code *code,
		  int (*fn)(void *ctx, const struct jitdump_line *line), void *ctx);

/* The call frame information of a piece of code (as an .eh_frame section that lies behind the code, at
 * the next multiple of eight bytes from its start): borrowed from the bytes.  False: it has none. */
bool jitdump_eh_frame(const struct jitdump *dump, const void *bytes, size_t len,
		      const struct jitdump_code *code, const uint8_t **ret_bytes,
		      size_t *ret_len);
