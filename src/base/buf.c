/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/containers/huge.h"
#include "base/digits.h"

bool buf_reserve(struct buf *b, size_t extra)
{
	size_t cap;
	uint8_t *data;

	if (b->failed)
		return false;
	if (extra <= b->cap - b->len)
		return true;
	cap = b->cap ? b->cap : 256;
	while (cap - b->len < extra) {
		if (cap > SIZE_MAX / 2) {
			b->failed = true;
			return false;
		}
		cap *= 2;
	}
	data = realloc(b->data, cap);
	if (!data) {
		b->failed = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

bool buf_reserve_huge(struct buf *b, size_t bytes)
{
	uint8_t *data;

	if (b->failed || b->len || bytes <= b->cap)
		return buf_reserve(b, bytes);
	data = huge_alloc(bytes);
	if (!data) {
		b->failed = true;
		return false;
	}
	free(b->data);
	b->data = data;
	b->cap = bytes;
	return true;
}

void buf_put(struct buf *b, const void *bytes, size_t len)
{
	if (!len || !buf_reserve(b, len))
		return;
	memcpy(b->data + b->len, bytes, len);
	b->len += len;
}

void buf_put_u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

static void put_le(struct buf *b, uint64_t v, size_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(v >> (8 * i));
	buf_put(b, bytes, len);
}

void buf_put_u16(struct buf *b, uint16_t v)
{
	put_le(b, v, 2);
}

void buf_put_u32(struct buf *b, uint32_t v)
{
	put_le(b, v, 4);
}

void buf_put_u64(struct buf *b, uint64_t v)
{
	put_le(b, v, 8);
}

void buf_put_varint(struct buf *b, uint64_t v)
{
	uint8_t bytes[10];
	size_t len = 0;

	while (v >= 0x80) {
		bytes[len++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	bytes[len++] = (uint8_t)v;
	buf_put(b, bytes, len);
}

void buf_put_svarint(struct buf *b, int64_t v)
{
	buf_put_varint(b, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}

void buf_put_str(struct buf *b, const char *s)
{
	size_t len = strlen(s);

	buf_put_varint(b, len);
	buf_put(b, s, len);
}

void buf_put_decimal(struct buf *b, uint64_t v)
{
	char digits[DIGITS_MAX];
	size_t nr = digits_of(digits, v);

	buf_put(b, digits + DIGITS_MAX - nr, nr);
}

void buf_put_signed(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_put_u8(b, '-');
	buf_put_decimal(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void buf_put_hex(struct buf *b, uint64_t v, unsigned int min_digits)
{
	char text[16];
	size_t len = 0;

	while (len < sizeof(text) && (v || len < min_digits || !len)) {
		text[sizeof(text) - ++len] = "0123456789abcdef"[v % 16];
		v /= 16;
	}
	buf_put(b, text + sizeof(text) - len, len);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
}

void buf_done(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}
