/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/buf.h"

#include <string.h>

#include "base/cursor.h"

#include "alloc_fail.h"
#include "unit.h"

static void integers_are_little_endian(void **state)
{
	static const uint8_t want[] = {
		0x01, 0x34, 0x12, 0xef, 0xbe, 0xad, 0xde, 8, 7, 6, 5, 4, 3, 2, 1,
	};
	struct buf b = { 0 };

	(void)state;
	buf_put_u8(&b, 1);
	buf_put_u16(&b, 0x1234);
	buf_put_u32(&b, 0xdeadbeef);
	buf_put_u64(&b, 0x0102030405060708);
	assert_false(b.failed);
	assert_int_equal(b.len, sizeof(want));
	assert_memory_equal(b.data, want, sizeof(want));
	buf_done(&b);
	assert_null(b.data);
}

static const struct {
	uint64_t v;
	size_t len;
} varints[] = {
	{ 0, 1 },           { 1, 1 },           { 127, 1 },        { 128, 2 },
	{ 16383, 2 },       { 16384, 3 },       { UINT32_MAX, 5 }, { 1ULL << 62, 9 },
	{ 1ULL << 63, 10 }, { UINT64_MAX, 10 },
};

static void varints_survive_a_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(varints); i++) {
		struct buf b = { 0 };
		struct cursor c;

		buf_put_varint(&b, varints[i].v);
		assert_int_equal(b.len, varints[i].len);
		c = cursor_le(b.data, b.len);
		assert_true(cursor_varint(&c) == varints[i].v);
		assert_false(c.failed);
		assert_int_equal(cursor_left(&c), 0);
		buf_done(&b);
	}
}

static void signed_varints_survive_a_round_trip(void **state)
{
	static const int64_t values[] = {
		0, -1, 1, -2, 2, 63, -64, INT64_MAX, INT64_MIN
	};
	static const size_t lens[] = { 1, 1, 1, 1, 1, 1, 1, 10, 10 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct buf b = { 0 };
		struct cursor c;

		buf_put_svarint(&b, values[i]);
		assert_int_equal(b.len, lens[i]);
		c = cursor_le(b.data, b.len);
		assert_true(cursor_svarint(&c) == values[i]);
		buf_done(&b);
	}
}

static void strings_start_with_their_length(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_put_str(&b, "");
	buf_put_str(&b, "ab");
	assert_int_equal(b.len, 4);
	assert_memory_equal(b.data, "\0\2ab", 4);
	buf_done(&b);
}

static void growth_keeps_the_bytes(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		buf_put_u32(&b, i);
	assert_int_equal(b.len, 400000);
	for (uint32_t i = 0; i < 100000; i += 997) {
		struct cursor c = cursor_le(b.data + 4 * i, 4);

		assert_int_equal(cursor_u32(&c), i);
	}
	buf_done(&b);
}

static void failure_is_remembered_until_cleared(void **state)
{
	struct buf b = { 0 };

	(void)state;
	buf_put_u8(&b, 1);
	assert_false(buf_reserve(&b, SIZE_MAX - 10));
	assert_true(b.failed);
	buf_put_u8(&b, 2);
	assert_int_equal(b.len, 1);
	buf_clear(&b);
	assert_false(b.failed);
	assert_int_equal(b.len, 0);
	buf_put_u8(&b, 3);
	assert_int_equal(b.len, 1);
	buf_done(&b);
}

static void allocation_failure_fails_the_buf(void **state)
{
	struct buf b = { 0 };

	(void)state;
	alloc_fail_at(1);
	buf_put_u64(&b, 1);
	assert_true(alloc_fail_off());
	assert_true(b.failed);
	assert_int_equal(b.len, 0);
	buf_done(&b);

	/* If growing fails, the content stays. */
	buf_put_u64(&b, 7);
	alloc_fail_at(1);
	assert_false(buf_reserve(&b, 100000));
	assert_true(alloc_fail_off());
	assert_int_equal(b.len, 8);
	assert_int_equal(b.data[0], 7);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(integers_are_little_endian),
		cmocka_unit_test(varints_survive_a_round_trip),
		cmocka_unit_test(signed_varints_survive_a_round_trip),
		cmocka_unit_test(strings_start_with_their_length),
		cmocka_unit_test(growth_keeps_the_bytes),
		cmocka_unit_test(failure_is_remembered_until_cleared),
		cmocka_unit_test(allocation_failure_fails_the_buf),
	};

	return UNIT_RUN(cases);
}
