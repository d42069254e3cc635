/* block.h - the frame around everything in a segment file: type, length, checksums.
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
	BLOCK_BYTES_MAX = 32 << 20 /* payload; a reader takes no longer one for real */
};

enum block_type {
	BLOCK_INFO = 1,
	BLOCK_DICT = 2,
	BLOCK_SAMPLES = 3,
	BLOCK_TOTALS = 4,
	BLOCK_END = 5
};

struct block_header {
	uint8_t type; /* unknown ones are skipped */
	uint32_t len; /* bytes of payload */
	uint64_t sum; /* of the payload */
};

/* The first bytes of the file.  `salt` goes into all checksums, so that no block of
 * another segment is ever taken for one of this. */
void segment_header_put(struct buf *out, uint64_t salt);
/* 0, -EBADMSG (no segment) or -EPROTONOSUPPORT (a newer format). */
int segment_header_parse(const uint8_t bytes[SEGMENT_HEADER_BYTES], uint64_t *ret_salt);

/* Leaves room for a header; returns the offset to hand to block_end(). */
size_t block_begin(struct buf *out);
/* Fills in the header of the block whose payload ends where `out` ends now. */
void block_end(struct buf *out, size_t begin, enum block_type type, uint64_t salt);
/* False if these bytes are no sound block header. */
bool block_header_parse(const uint8_t bytes[BLOCK_HEADER_BYTES], uint64_t salt,
			struct block_header *ret_header);
bool block_payload_ok(const struct block_header *h, const uint8_t *payload,
		      uint64_t salt);
/* Offset of the first byte at or behind `from` where a header's magic may begin (it may
 * run over the end of the bytes); `len` if there is none. */
size_t block_scan(const uint8_t *bytes, size_t from, size_t len);
