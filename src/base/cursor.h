/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cursor.h - bounded reading of bytes in either byte order.
 * Layer: base.  A cursor that runs short returns zeros and remembers it in `failed`, so
 * that a decoder reads like the record it decodes and tests once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *data;
	size_t len;
	size_t pos;
	bool swap;   /* the data has the other byte order than this machine */
	bool failed; /* a read went past the end, or a varint was malformed */
};

/* `swap`: whether integers have to be byte-swapped.  The data stays the caller's. */
static inline struct cursor cursor_of(const void *data, size_t len, bool swap)
{
	return (struct cursor){ .data = data, .len = len, .swap = swap };
}

/* The same, for data that is little-endian by definition (the session format). */
static inline struct cursor cursor_le(const void *data, size_t len)
{
	return cursor_of(data, len, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->len - c->pos;
}

/* The next `len` bytes, borrowed, or NULL (and failed) if fewer are left. */
static inline const void *cursor_take(struct cursor *c, size_t len)
{
	if (c->failed || len > c->len - c->pos) {
		c->failed = true;
		return NULL;
	}
	c->pos += len;
	return c->data + c->pos - len;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *at = cursor_take(c, 1);

	return at ? *at : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const void *at = cursor_take(c, 2);
	uint16_t v;

	if (!at)
		return 0;
	memcpy(&v, at, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const void *at = cursor_take(c, 4);
	uint32_t v;

	if (!at)
		return 0;
	memcpy(&v, at, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const void *at = cursor_take(c, 8);
	uint64_t v;

	if (!at)
		return 0;
	memcpy(&v, at, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

/* LEB128, at most 64 bits; a longer one fails the cursor. */
uint64_t cursor_varint(struct cursor *c);
int64_t cursor_svarint(struct cursor *c);
/* A NUL-terminated string that lies wholly in the next `max` bytes (and in the data):
 * returns it, borrowed, and steps over `max` bytes; NULL and failed otherwise. */
const char *cursor_fixed_str(struct cursor *c, size_t max);
