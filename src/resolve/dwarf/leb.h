/* SPDX-License-Identifier: GPL-2.0-or-later */
/* leb.h - reads LEB128 numbers of DWARF, inline for speed.
 * Layer: resolve. Source: DWARF 5, section 7.6. */
#pragma once
#include "base/cursor.h"

/* Returns the low 64 bits of a number of any length (padding with 0x80 is allowed). */
static inline uint64_t leb_u(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	if (c->pos < c->len && c->data[c->pos] < 0x80)
		return c->data[c->pos++];
	while (c->pos < c->len) {
		uint8_t byte = c->data[c->pos++];

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
		shift += 7;
	}
	c->failed = true;
	return 0;
}

static inline int64_t leb_s(struct cursor *c)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	while (c->pos < c->len) {
		uint8_t byte = c->data[c->pos++];

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				v |= ~(uint64_t)0 << shift;
			return (int64_t)v;
		}
	}
	c->failed = true;
	return 0;
}

/* Reads and returns an offset of 4 or 8 bytes, or an address of 1 to 8 bytes. */
static inline uint64_t leb_word(struct cursor *c, unsigned int bytes)
{
	switch (bytes) {
	case 8:
		return cursor_u64(c);
	case 4:
		return cursor_u32(c);
	case 2:
		return cursor_u16(c);
	case 1:
		return cursor_u8(c);
	default:
		c->failed = true;
		return 0;
	}
}

static inline void leb_skip(struct cursor *c, uint64_t bytes)
{
	if (bytes > c->len - c->pos)
		c->failed = true;
	else
		c->pos += bytes;
}
