/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "format/session/column.h"

#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "base/containers/hash.h"
#include "unit.h"

enum {
	NR = 3000
};

/* Generators of values, each of which exercises another codec. */
struct shape {
	const char *name;
	uint64_t (*value)(uint64_t i);
	enum column_kind kind;
	size_t max_bytes; /* for NR of them */
};

static uint64_t constant(uint64_t i)
{
	(void)i;
	return UINT64_MAX - 5;
}

static uint64_t two_values(uint64_t i)
{
	return hash_u64(i) % 2 ? 1000000 : 1000007;
}

static uint64_t long_runs(uint64_t i)
{
	return hash_u64(i / 97);
}

static uint64_t geometric(uint64_t i)
{
	return hash_u64(i) >> (20 + hash_u64(i + NR) % 44);
}

static uint64_t anything(uint64_t i)
{
	return hash_u64(i);
}

static uint64_t around_zero(uint64_t i)
{
	return hash_u64(i) % 201 - 100;
}

static uint64_t extremes(uint64_t i)
{
	static const uint64_t all[] = { 0, UINT64_MAX, INT64_MAX, 1ULL << 63, 1, 2 };

	return all[hash_u64(i) % 6];
}

/* Positive and negative, like differences of times with a resolution of 10 us. */
static uint64_t multiples(uint64_t i)
{
	return (hash_u64(i) % 4001 - 2000) * 10000;
}

static uint64_t few_huge(uint64_t i)
{
	return hash_u64(i) % 100 ? hash_u64(i + 1) % 1000 : hash_u64(i) | 1ULL << 63;
}

static const struct shape shapes[] = {
	{ "constant", constant, COLUMN_CONST, 12 },
	{ "two values", two_values, COLUMN_PLANES, NR / 4 },
	{ "long runs", long_runs, COLUMN_RUNS, 350 },
	{ "geometric", geometric, COLUMN_OCTAVES, NR * 4 },
	{ "anything", anything, COLUMN_OCTAVES, NR * 9 },
	{ "around zero", around_zero, COLUMN_PLANES, NR + 100 },
	{ "multiples", multiples, COLUMN_STEPS, NR * 2 },
	{ "few huge", few_huge, COLUMN_OCTAVES, NR * 2 },
	{ "extremes", extremes, COLUMN_OCTAVES, NR * 9 },
};

static void every_shape_survives_a_round_trip(void **state)
{
	struct column_encoder e;
	struct column_decoder d;
	static uint64_t in[NR];
	static uint64_t out[NR];
	static uint32_t low[NR];

	(void)state;
	assert_int_equal(column_encoder_init(&e), 0);
	assert_int_equal(column_decoder_init(&d), 0);
	for (size_t k = 0; k < COUNT_OF(shapes); k++) {
		const struct shape *shape = &shapes[k];

		for (size_t i = 0; i < NR; i++)
			in[i] = shape->value(i);
		for (size_t nr = 0; nr <= NR; nr += nr < 70 ? 1 : 293) {
			struct buf b = { 0 };
			struct cursor c;

			assert_int_equal(column_encode(&e, in, nr, &b), 0);
			c = cursor_le(b.data, b.len);
			memset(out, 0xa5, sizeof(out));
			assert_int_equal(column_decode(&d, &c, out, nr), 0);
			assert_int_equal(cursor_left(&c), 0);
			assert_memory_equal(in, out, nr * sizeof(in[0]));
			c = cursor_le(b.data, b.len);
			assert_int_equal(column_decode_u32(&d, &c, low, nr), 0);
			assert_int_equal(cursor_left(&c), 0);
			for (size_t i = 0; i < nr; i++)
				assert_true(low[i] == (uint32_t)in[i]);
			buf_done(&b);
		}
		struct buf b = { 0 };

		assert_int_equal(column_encode(&e, in, NR, &b), 0);
		if (b.data[0] != shape->kind || b.len > shape->max_bytes)
			fail_msg("%s: kind %d, %zu bytes", shape->name, b.data[0],
				 b.len);
		buf_done(&b);
	}
	column_encoder_done(&e);
	column_decoder_done(&d);
}

static void bytes_survive_a_round_trip(void **state)
{
	uint8_t in[1000];
	uint8_t out[1000];
	struct column_encoder e;
	struct column_decoder d;

	(void)state;
	assert_int_equal(column_encoder_init(&e), 0);
	assert_int_equal(column_decoder_init(&d), 0);
	for (size_t len = 0; len <= sizeof(in); len += 111) {
		for (uint64_t mask = 0; mask <= 0xff; mask += 0x55) {
			struct buf b = { 0 };
			struct cursor c;

			for (size_t i = 0; i < len; i++)
				in[i] = (uint8_t)(hash_u64(i) & mask);
			assert_int_equal(column_encode_bytes(&e, in, len, &b), 0);
			c = cursor_le(b.data, b.len);
			assert_int_equal(column_decode_bytes(&d, &c, out, len), 0);
			assert_memory_equal(in, out, len);
			buf_done(&b);
		}
	}
	column_encoder_done(&e);
	column_decoder_done(&d);
}

/* A column has no checksum: any values can come out, but only NR of them, and only from the
 * given bytes (the sanitizers check this: each try uses a separate heap block). */
static void prefixes_and_bit_flips_are_harmless(void **state)
{
	static uint64_t in[NR];
	static uint64_t out[NR];
	struct column_encoder e;
	struct column_decoder d;

	(void)state;
	assert_int_equal(column_encoder_init(&e), 0);
	assert_int_equal(column_decoder_init(&d), 0);
	for (size_t k = 0; k < COUNT_OF(shapes); k++) {
		struct buf b = { 0 };

		for (size_t i = 0; i < NR; i++)
			in[i] = shapes[k].value(i);
		assert_int_equal(column_encode(&e, in, 200, &b), 0);
		for (size_t len = 0; len < b.len; len++) {
			uint8_t *copy = test_malloc(len + 1);
			struct cursor c = cursor_le(copy, len);

			memcpy(copy, b.data, len);
			assert_int_equal(column_decode(&d, &c, out, 200), -EBADMSG);
			test_free(copy);
		}
		for (size_t i = 0; i < b.len * 8; i++) {
			struct cursor c = cursor_le(b.data, b.len);
			int r;

			b.data[i / 8] ^= (uint8_t)(1 << i % 8);
			r = column_decode(&d, &c, out, 200);
			assert_true(r == 0 || r == -EBADMSG);
			b.data[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		buf_done(&b);
	}
	column_encoder_done(&e);
	column_decoder_done(&d);
}

static void reports_allocation_failure(void **state)
{
	static uint64_t in[NR];
	static uint64_t out[NR];

	(void)state;
	for (size_t i = 0; i < NR; i++)
		in[i] = long_runs(i);
	for (unsigned long n = 1;; n++) {
		struct column_encoder e = { 0 };
		struct column_decoder d = { 0 };
		struct buf b = { 0 };
		bool failed;
		int r;

		alloc_fail_at(n);
		r = column_encoder_init(&e);
		if (!r)
			r = column_decoder_init(&d);
		if (!r)
			r = column_encode(&e, in, NR, &b);
		if (!r) {
			struct cursor c = cursor_le(b.data, b.len);

			r = column_decode(&d, &c, out, NR);
		}
		failed = alloc_fail_off();
		column_encoder_done(&e);
		column_decoder_done(&d);
		buf_done(&b);
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (!failed)
			break;
	}
	assert_memory_equal(in, out, sizeof(in));
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test(every_shape_survives_a_round_trip),
		cmocka_unit_test(bytes_survive_a_round_trip),
		cmocka_unit_test(prefixes_and_bit_flips_are_harmless),
		cmocka_unit_test(reports_allocation_failure),
	};

	return UNIT_RUN(cases);
}
