/* dict_block.h - what a dict gained, as payloads of blocks, and back.
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
	/* A section of stacks with the frames that they are the first to have, as version 2
	 * had them. */
	DICT_OLD_CALLS = DICT_TABLE_COUNT,
	DICT_CALLS, /* the same, in chains */
	DICT_SECTION_COUNT
};

enum {
	DICT_CHUNK_ENTRIES = 1 << 16, /* of one table in one section */
	DICT_CHUNK_STRING_BYTES = 4 << 20,
	DICT_CALLS_LEAST = 1 << 10, /* stacks that are worth a section of calls */
	DICT_CALLS_MOST = 1 << 19,  /* stacks of one: each learns anew */
	DICT_CALLS_HEAD =
		2 +
		CALLS_COLUMN_COUNT, /* first frame, first chain, lengths of columns */
	DICT_STRING_MAX = 1 << 20,  /* a longer string is cut on its way to disk */
	DICT_HOLES_MAX = 1 << 20,   /* that one section may leave before it */
	/* What a file may describe, holes counted: so many entries, and so many more a byte of its
	 * sections.  Columns that are all one value take next to none. */
	DICT_ENTRIES_FREE = 4 << 20,
	DICT_ENTRIES_A_BYTE = 64
};

/* How much of each table is known (or written). */
struct dict_counts {
	size_t nr[DICT_TABLE_COUNT];
	uint32_t next_frame; /* above all that the stacks counted refer to */
	size_t nr_chains;
};

enum {
	CHAIN_LOST = 0xfffffffe /* the end of one that was damaged in the file */
};

/* The innermost stack of each chain of calls, which is a sample's as a rule: so a sample tells a
 * chain's number, which is mostly the next one. */
struct chain_ends {
	VEC(uint32_t) stacks;
};

/* Of a dict fresh from dict_init(). */
struct dict_counts dict_counts_none(void);
/* All that is there; next_frame is left 0. */
struct dict_counts dict_counts_of(const struct dict *d);

/* Memory that packing and unpacking keep between calls. */
struct dict_scratch {
	VEC(uint64_t) values;
	VEC(uint64_t) last_offsets; /* by image */
	struct buf bytes;
	struct buf column;
	struct buf section;
	uint64_t unpacked; /* bytes of sections */
	struct dict_calls calls;
	struct chain_ends ends;
	bool is_whole; /* what is packed does not grow: each section of calls is worth it */
};

void dict_scratch_done(struct dict_scratch *s);

/* Appends the next section: some of what `d` has beyond *done, which it moves on.  Tables
 * come in such an order that nothing refers to a later section.  0, 1 if nothing is left,
 * or -ENOMEM. */
int dict_pack(const struct dict *d, struct dict_counts *done, struct dict_scratch *s,
	      struct column_encoder *e, struct buf *out);

/* Adds what a payload describes to `d`.  Numbers that were skipped become holes; a
 * reference to a hole or to what is not there becomes DICT_NONE ("" for a string,
 * STACK_TRUNCATED for a caller), and what cannot be without it is a hole too; *ret_holes
 * is set if there are such.  0, -EBADMSG (sections before the fault stay) or -ENOMEM. */
int dict_unpack(struct dict *d, struct cursor *payload, struct dict_scratch *s,
		struct column_decoder *dec, bool *ret_holes);
