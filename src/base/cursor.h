/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cursor.h - bounds-checked reading of bytes in either byte order.
 * Layer: base.  Reads past the end return zeros and set `failed`. So a decoder can read all
 * fields of a record and check for errors once at the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *data;
	size_t len;
	size_t pos;
	bool swap;   /* the data has the opposite byte order */
	bool failed; /* a read went past the end, or a varint was malformed */
};

/* `swap`: integers have to be byte-swapped. The caller keeps the data. */
static inline struct cursor cursor_of(const void *data, size_t len, bool swap)
{
	return (struct cursor){ .data = data, .len = len, .swap = swap };
}

/* Like cursor_of(), for data that is always little-endian (the session format). */
static inline struct cursor cursor_le(const void *data, size_t len)
{
	return cursor_of(data, len, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->len - c->pos;
}

/* Returns the next `len` bytes, borrowed. If fewer are left, returns NULL and sets `failed`. */
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

/* Decode LEB128 of at most 64 bits. A longer number sets `failed`. */
uint64_t cursor_varint(struct cursor *c);
int64_t cursor_svarint(struct cursor *c);
/* Returns a NUL-terminated string that ends within the next `max` bytes, borrowed, and skips
 * `max` bytes. Otherwise returns NULL and sets `failed`. */
const char *cursor_fixed_str(struct cursor *c, size_t max);
