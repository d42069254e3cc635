/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dict_block.h - encodes the new entries of a dict as payloads of blocks, and decodes them.
 * Layer: format, private to it.  The layout is in docs/format.md, section 5. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "format/session/column.h"
#include "format/session/dict.h"
#include "format/session/dict_calls.h"

enum dict_table {
	DICT_STRINGS,
	DICT_EVENTS,
	DICT_IMAGES,
	DICT_FRAMES,
	DICT_STACKS,
	DICT_THREADS,
	DICT_TABLE_COUNT,
	/* A section of stacks, and of the frames that appear in them for the first time, as
	 * version 2 encoded it. */
	DICT_OLD_CALLS = DICT_TABLE_COUNT,
	DICT_CALLS, /* stacks and new frames, encoded as chains */
	DICT_SECTION_COUNT
};

enum {
	/* maximum number of entries of a table in a section */
	DICT_CHUNK_ENTRIES = 1 << 16,
	DICT_CHUNK_STRING_BYTES = 4 << 20,
	/* minimum number of stacks in a section of calls */
	DICT_CALLS_LEAST = 1 << 10,
	/* Maximum number of stacks in a section of calls. It is high, because each section
	 * starts with empty lists of callees. */
	DICT_CALLS_MOST = 1 << 19,
	/* Values before the columns: first frame, first chain, lengths of the columns. */
	DICT_CALLS_HEAD = 2 + CALLS_COLUMN_COUNT,
	DICT_STRING_MAX = 1 << 20, /* longer strings are truncated when written */
	DICT_HOLES_MAX = 1 << 20,  /* missing numbers allowed before a section */
	/* Limits how many entries, including holes, a file can describe: this number, and more for
	 * each byte of its sections. Without a limit, a few bytes could describe any number of
	 * equal entries. */
	DICT_ENTRIES_FREE = 4 << 20,
	DICT_ENTRIES_A_BYTE = 64
};

/* For each table, the number of entries that were read or written. */
struct dict_counts {
	size_t nr[DICT_TABLE_COUNT];
	uint32_t next_frame; /* larger than all frame numbers in the counted stacks */
	size_t nr_chains;
};

enum {
	CHAIN_LOST = 0xfffffffe /* the end of a chain that was damaged in the file */
};

/* By chain number: the innermost stack of each call chain. Most samples have such a stack, and
 * store the number of its chain, which is usually the next number. */
struct chain_ends {
	VEC(uint32_t) stacks;
};

/* Returns the counts of a new dict, after dict_init(). */
struct dict_counts dict_counts_none(void);
/* Returns the counts of `d`, with next_frame 0. */
struct dict_counts dict_counts_of(const struct dict *d);

/* Buffers that packing and unpacking reuse between calls. */
struct dict_scratch {
	VEC(uint64_t) values;
	VEC(uint64_t) last_offsets; /* indexed by image */
	struct buf bytes;
	struct buf column;
	struct buf section;
	uint64_t unpacked; /* bytes of the sections decoded so far */
	struct dict_calls calls;
	struct chain_ends ends;
	/* set by the caller if the dict no longer grows; sections of calls are then always used */
	bool is_whole;
};

void dict_scratch_done(struct dict_scratch *s);

/* Appends the next section, with entries of `d` after *done, and advances *done. The order of
 * tables ensures that no section refers to a later one. Returns 0, 1 if nothing is left, or
 * -ENOMEM. */
int dict_pack(const struct dict *d, struct dict_counts *done, struct dict_scratch *s,
	      struct column_encoder *e, struct buf *out);

/* Adds the entries of a payload to `d`. Skipped numbers become holes. A reference to a hole or
 * to a missing entry becomes DICT_NONE ("" for a string, STACK_TRUNCATED for a caller); an
 * entry that depends on it also becomes a hole. Sets *ret_holes if there are any. Returns 0,
 * -EBADMSG (keeping the sections before the error) or -ENOMEM. */
int dict_unpack(struct dict *d, struct cursor *payload, struct dict_scratch *s,
		struct column_decoder *dec, bool *ret_holes);
