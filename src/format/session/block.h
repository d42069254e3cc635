/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.h - the envelope of all data in a segment file: type, length, checksums.
 * Layer: format, private to it.  The layout is in docs/format.md, section 2. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	SEGMENT_HEADER_BYTES = 32,
	SEGMENT_VERSION = 3,
	BLOCK_HEADER_BYTES = 24,
	/* maximum bytes of a payload; readers treat a longer block as damaged */
	BLOCK_BYTES_MAX = 32 << 20
};

enum block_type {
	BLOCK_INFO = 1,
	BLOCK_DICT = 2,
	BLOCK_SAMPLES = 3,
	BLOCK_TOTALS = 4,
	BLOCK_END = 5
};

struct block_header {
	uint8_t type; /* readers skip unknown types */
	uint32_t len; /* bytes of payload */
	uint64_t sum; /* checksum of the payload */
};

/* Appends the header of a segment file. `salt` is part of all checksums, so that readers never
 * accept a block of another segment. */
void segment_header_put(struct buf *out, uint64_t salt);
/* Parses the header of a segment file and stores its salt. Returns 0, -EBADMSG (not a segment) or
 * -EPROTONOSUPPORT (a newer format). */
int segment_header_parse(const uint8_t bytes[SEGMENT_HEADER_BYTES], uint64_t *ret_salt);

/* Begins a block: reserves space for its header. Returns the offset to pass to block_end(). */
size_t block_begin(struct buf *out);
/* Ends a block: fills in its header, with the checksum of the payload, which ends at the end of
 * `out`. */
void block_end(struct buf *out, size_t begin, enum block_type type, uint64_t salt);
/* Returns false if these bytes are not a valid block header. */
bool block_header_parse(const uint8_t bytes[BLOCK_HEADER_BYTES], uint64_t salt,
			struct block_header *ret_header);
bool block_payload_ok(const struct block_header *h, const uint8_t *payload,
		      uint64_t salt);
/* Returns the first offset from `from` on where the magic of a block header is, or begins at the
 * end of the bytes; returns `len` if no magic follows. */
size_t block_scan(const uint8_t *bytes, size_t from, size_t len);
