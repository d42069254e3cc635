/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record_maker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

void put_u8(struct maker *m, uint8_t v)
{
	buf_put(&m->b, &v, sizeof(v));
}

void put_u16(struct maker *m, uint16_t v)
{
	v = m->swap ? __builtin_bswap16(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

void put_u32(struct maker *m, uint32_t v)
{
	v = m->swap ? __builtin_bswap32(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

void put_u64(struct maker *m, uint64_t v)
{
	v = m->swap ? __builtin_bswap64(v) : v;
	buf_put(&m->b, &v, sizeof(v));
}

void put_text(struct maker *m, const char *s, size_t bytes)
{
	char padded[64] = "";

	assert_true(bytes <= sizeof(padded) && strlen(s) <= bytes);
	memcpy(padded, s, strlen(s));
	buf_put(&m->b, padded, bytes);
}

void begin(struct maker *m, uint32_t type, uint16_t misc)
{
	buf_clear(&m->b);
	put_u32(m, type);
	put_u16(m, misc);
	put_u16(m, 0);
}

static void set_size(uint8_t *record, size_t bytes, bool swap)
{
	uint16_t size = (uint16_t)bytes;

	size = swap ? __builtin_bswap16(size) : size;
	memcpy(record + 6, &size, sizeof(size));
}

void finish(struct maker *m)
{
	set_size(m->b.data, m->b.len, m->swap);
}

int decode(const struct maker *m, const struct decoder *d, struct record *ret_record)
{
	uint8_t *copy = malloc(m->b.len);
	struct record again;
	int r;

	memcpy(copy, m->b.data, m->b.len);
	r = decoder_record(d, copy, m->b.len, &again, NULL);
	free(copy);
	/* Borrowed data has to outlive this call. */
	assert_int_equal(r, decoder_record(d, m->b.data, m->b.len, ret_record, NULL));
	return r;
}

size_t decode_prefixes(const struct maker *m, const struct decoder *d)
{
	struct record rec;
	size_t good = 0;

	for (size_t len = 0; len < m->b.len; len++) {
		uint8_t *copy = malloc(len ? len : 1);

		memcpy(copy, m->b.data, len);
		assert_int_equal(decoder_record(d, copy, len, &rec, NULL), -EBADMSG);
		if (len >= 8) {
			set_size(copy, len, m->swap);
			good += !decoder_record(d, copy, len, &rec, NULL);
		}
		free(copy);
	}
	return good;
}
