/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf.h - a byte string that grows, and the little-endian and varint encodings of the
 * session format.
 * Layer: base.  A failed allocation is remembered in `failed`; later puts do nothing, so
 * that a writer tests once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t *data;
	size_t len;
	size_t cap;
	bool failed;
};

/* Makes room for `extra` more bytes; false (and b->failed) when memory is short. */
bool buf_reserve(struct buf *b, size_t extra);
/* The same for an empty one that will be many megabytes: in huge pages, as base/containers/huge.h. */
bool buf_reserve_huge(struct buf *b, size_t bytes);
void buf_put(struct buf *b, const void *bytes, size_t len);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16(struct buf *b, uint16_t v); /* little-endian, as all below */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
/* LEB128: seven bits a byte, low bits first (DWARF 5, section 7.6). */
void buf_put_varint(struct buf *b, uint64_t v);
/* Zigzag (0, -1, 1, -2 ... become 0, 1, 2, 3 ...), then as a varint. */
void buf_put_svarint(struct buf *b, int64_t v);
/* varint length, then the bytes without a terminator. */
void buf_put_str(struct buf *b, const char *s);
/* Digits as printf's PRIu64, PRId64 and "%0*" PRIx64 make them; at most 16 of the last. */
void buf_put_decimal(struct buf *b, uint64_t v);
void buf_put_signed(struct buf *b, int64_t v);
void buf_put_hex(struct buf *b, uint64_t v, unsigned int min_digits);
/* Empties it and keeps the memory. */
void buf_clear(struct buf *b);
void buf_done(struct buf *b);
