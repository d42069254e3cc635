/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf.h - a growable byte buffer, with the little-endian and varint encodings of the session
 * format.
 * Layer: base. A failed allocation sets `failed`, and later puts do nothing. So a caller that
 * appends many values can check for errors once at the end. */
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

/* Reserves space for `extra` more bytes. Returns false and sets b->failed if memory is short. */
bool buf_reserve(struct buf *b, size_t extra);
/* Like buf_reserve(), for an empty buffer that will hold many megabytes: uses huge pages
 * (base/containers/huge.h). */
bool buf_reserve_huge(struct buf *b, size_t bytes);
void buf_put(struct buf *b, const void *bytes, size_t len);
void buf_put_u8(struct buf *b, uint8_t v);
void buf_put_u16(struct buf *b,
		 uint16_t v); /* little-endian, like the following functions */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
/* LEB128: seven bits per byte, low bits first (DWARF 5, section 7.6). */
void buf_put_varint(struct buf *b, uint64_t v);
/* Maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ... (zigzag), and appends that number as a varint. */
void buf_put_svarint(struct buf *b, int64_t v);
/* Appends the length as a varint, then the bytes without a NUL. */
void buf_put_str(struct buf *b, const char *s);
/* Append the digits that printf() writes for PRIu64, PRId64 and "%0*" PRIx64. `min_digits` is at
 * most 16. */
void buf_put_decimal(struct buf *b, uint64_t v);
void buf_put_signed(struct buf *b, int64_t v);
void buf_put_hex(struct buf *b, uint64_t v, unsigned int min_digits);
/* Empties the buffer but keeps its memory. */
void buf_clear(struct buf *b);
void buf_done(struct buf *b);
