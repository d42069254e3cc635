/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

static void reads_integers_in_both_orders(void **state)
{
	struct cursor c = cursor_of(bytes, sizeof(bytes), false);
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	(void)state;
	assert_int_equal(cursor_u8(&c), 1);
	v16 = cursor_u16(&c);
	v32 = cursor_u32(&c);
	v64 = cursor_u64(&c);
	assert_false(c.failed);
	assert_int_equal(cursor_left(&c), 0);

	c = cursor_of(bytes, sizeof(bytes), true);
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), __builtin_bswap16(v16));
	assert_int_equal(cursor_u32(&c), __builtin_bswap32(v32));
	assert_true(cursor_u64(&c) == __builtin_bswap64(v64));

	c = cursor_le(bytes + 1, 2);
	assert_int_equal(cursor_u16(&c), 0x0302);
}

/* Reads every prefix of a record: exactly the complete fields are read. */
static void every_prefix_fails_at_its_end(void **state)
{
	(void)state;
	for (size_t len = 0; len <= sizeof(bytes); len++) {
		uint8_t *exact = malloc(
			len ? len : 1); /* so that a sanitizer detects an overrun */
		struct cursor c;

		memcpy(exact, bytes, len);
		c = cursor_of(exact, len, false);
		assert_int_equal(cursor_u8(&c) != 0, len >= 1);
		assert_int_equal(cursor_u16(&c) != 0, len >= 3);
		assert_int_equal(cursor_u32(&c) != 0, len >= 7);
		assert_int_equal(cursor_u64(&c) != 0, len >= 15);
		assert_int_equal(c.failed, len < 15);
		assert_true(c.pos <= c.len);
		free(exact);
	}
}

static void a_failed_cursor_stays_failed(void **state)
{
	struct cursor c = cursor_of(bytes, 3, false);

	(void)state;
	assert_int_equal(cursor_u32(&c), 0);
	assert_true(c.failed);
	assert_int_equal(cursor_u8(&c), 0);
	assert_null(cursor_take(&c, 1));
	assert_true(c.failed);
}

static void take_is_bounded(void **state)
{
	struct cursor c = cursor_of(bytes, sizeof(bytes), false);

	(void)state;
	assert_ptr_equal(cursor_take(&c, 0), bytes);
	assert_ptr_equal(cursor_take(&c, 5), bytes);
	assert_ptr_equal(cursor_take(&c, 10), bytes + 5);
	assert_false(c.failed);
	assert_non_null(cursor_take(&c, 0));
	assert_null(cursor_take(&c, SIZE_MAX));
	assert_true(c.failed);
}

static void reads_all_varint_forms(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		uint64_t want;
		bool fails;
	} rows[] = {
		{ "", 0, 0, true },
		{ "\0", 1, 0, false },
		{ "\x80", 1, 0, true },
		{ "\x80\x80", 2, 0, true },
		{ "\x80\0", 2, 0, false }, /* longer than needed, but complete */
		{ "\xe5\x8e\x26", 3, 624485, false },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX, false },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, 0,
		  true }, /* 65 bits */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, 0, true },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct cursor c = cursor_le(rows[i].data, rows[i].len);

		assert_true(cursor_varint(&c) == rows[i].want);
		assert_int_equal(c.failed, rows[i].fails);
	}
}

static void fixed_strings_end_at_nul(void **state)
{
	struct cursor c = cursor_le("ab\0\0cdef", 8);

	(void)state;
	assert_string_equal(cursor_fixed_str(&c, 4), "ab");
	assert_int_equal(c.pos, 4);
	assert_null(cursor_fixed_str(&c, 4));
	assert_true(c.failed);

	c = cursor_le("ab", 3);
	assert_null(cursor_fixed_str(&c, 4));
	assert_true(c.failed);

	c = cursor_le("ab", 3);
	assert_null(cursor_fixed_str(&c, 0));
	assert_true(c.failed);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_integers_in_both_orders),
		cmocka_unit_test(every_prefix_fails_at_its_end),
		cmocka_unit_test(a_failed_cursor_stays_failed),
		cmocka_unit_test(take_is_bounded),
		cmocka_unit_test(reads_all_varint_forms),
		cmocka_unit_test(fixed_strings_end_at_nul),
	};

	return UNIT_RUN(cases);
}
