/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base64.h"

#include <stdint.h>

#include "base/buf.h"

enum {
	GROUP = 3, /* bytes that become DIGITS digits */
	DIGITS = 4,
	DIGIT_BITS = 6
};

void base64_put(struct buf *out, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *from = bytes;

	if (!buf_reserve(out, (len / GROUP + 1) * DIGITS))
		return;
	for (size_t i = 0; i < len; i += GROUP) {
		size_t left = len - i;
		uint32_t group = (uint32_t)from[i] << 16 |
				 (uint32_t)(left > 1 ? from[i + 1] : 0) << 8 |
				 (left > 2 ? from[i + 2] : 0);

		for (unsigned int k = 0; k < DIGITS; k++) {
			uint32_t digit = group >> (DIGIT_BITS * (DIGITS - 1 - k)) & 63;

			out->data[out->len++] =
				(uint8_t)(k <= left ? digits[digit] : '=');
		}
	}
}
