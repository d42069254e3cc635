/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_reader.h - reads the valid blocks of a segment file one after the other.
 * Layer: format, private to it.  The algorithm is in docs/format.md, section 7. */
#pragma once
#include <stdint.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "format/session/block.h"

struct block_reader {
	int fd; /* owned by the caller */
	uint64_t salt;
	/* size of the file when it was opened, or less if it was truncated since */
	uint64_t size;
	uint64_t pos; /* offset of the next block */
	uint64_t bad_blocks;
	uint64_t cut_bytes;
	struct buf window; /* bytes of the file, from offset window_off on */
	uint64_t window_off;
};

/* Initializes the reader for the open file, and reads the file header. Returns 0, -EBADMSG (not a
 * segment), -EPROTONOSUPPORT (a newer format) or another negative errno. */
int block_reader_init(struct block_reader *b, int fd);
void block_reader_done(struct block_reader *b);
/* Returns the next valid block; *ret_payload is valid until the next call. Returns 0, 1 at the
 * end, or a negative errno. Damage is counted and skipped. */
int block_reader_next(struct block_reader *b, struct block_header *ret_header,
		      struct cursor *ret_payload);
