/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cursor.h"

uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (c->failed)
			return 0;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if (shift == 63 && byte > 1)
				break;
			return v;
		}
	}
	c->failed = true;
	return 0;
}

int64_t cursor_svarint(struct cursor *c)
{
	uint64_t v = cursor_varint(c);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

const char *cursor_fixed_str(struct cursor *c, size_t max)
{
	const char *at = cursor_take(c, max);

	if (!at)
		return NULL;
	if (!memchr(at, '\0', max)) {
		c->failed = true;
		return NULL;
	}
	return at;
}
