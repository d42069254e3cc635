/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large memory keeps its content, and zeroed memory is zero. */
#include "base/array.h"
#include "base/containers/huge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void growing_keeps_the_bytes(void **state)
{
	static const size_t sizes[] = { 1, 4096, 1 << 20, 3 << 20, (5 << 20) + 1 };
	uint8_t *bytes = NULL;
	size_t old = 0;

	(void)state;
	for (size_t s = 0; s < COUNT_OF(sizes); s++) {
		bytes = huge_realloc(bytes, old, sizes[s]);
		assert_non_null(bytes);
		for (size_t i = 0; i < old; i++)
			assert_int_equal(bytes[i], i * 7 % 251);
		for (size_t i = old; i < sizes[s]; i++)
			bytes[i] = (uint8_t)(i * 7 % 251);
		old = sizes[s];
	}
	free(bytes);
}

static void shrinking_keeps_the_remaining_bytes(void **state)
{
	uint8_t *bytes = huge_alloc(4 << 20);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 3, 4 << 20);
	bytes = huge_realloc(bytes, 4 << 20, 2 << 20);
	assert_non_null(bytes);
	for (size_t i = 0; i < 2 << 20; i++)
		assert_int_equal(bytes[i], 3);
	free(bytes);
}

static void allocates_big_arrays(void **state)
{
	(void)state;
	for (size_t bytes = 1; bytes <= 64 << 20; bytes *= 2)
		assert_true(huge_room(bytes) >= bytes);
	assert_int_equal(huge_room(4096), 4096);
	assert_int_equal(huge_room(1 << 20), 1 << 20);
	assert_int_equal(huge_room(4 << 20), huge_room(8 << 20));
	assert_int_equal(huge_room(64 << 20), 64 << 20);
}

static void zeroed_memory_is_zero(void **state)
{
	static const size_t counts[] = { 10, 300000, 600000 };

	(void)state;
	for (size_t c = 0; c < COUNT_OF(counts); c++) {
		uint64_t *dirty = huge_alloc(counts[c] * sizeof(*dirty));
		uint64_t *numbers;

		assert_non_null(dirty);
		memset(dirty, 0xff, counts[c] * sizeof(*dirty));
		free(dirty);
		numbers = huge_zalloc(counts[c], sizeof(*numbers));
		assert_non_null(numbers);
		for (size_t i = 0; i < counts[c]; i++)
			assert_int_equal(numbers[i], 0);
		memset(numbers, 1, counts[c] * sizeof(*numbers));
		huge_zfree(numbers, counts[c], sizeof(*numbers));
	}
}

static void zeroed_memory_grows(void **state)
{
	static const size_t counts[] = { 10, 1000, 300000, 600000, 2500000 };
	uint64_t *numbers = NULL;
	size_t old = 0;

	(void)state;
	for (size_t c = 0; c < COUNT_OF(counts); c++) {
		numbers = huge_zgrow(numbers, old, counts[c], sizeof(*numbers));
		assert_non_null(numbers);
		for (size_t i = 0; i < old; i++)
			assert_int_equal(numbers[i], i * 3 + 1);
		for (size_t i = old; i < counts[c]; i++) {
			assert_int_equal(numbers[i], 0);
			numbers[i] = i * 3 + 1;
		}
		old = counts[c];
	}
	assert_null(huge_zgrow(numbers, old, SIZE_MAX / 2, sizeof(*numbers)));
	assert_null(huge_zgrow(numbers, old, SIZE_MAX / 8, sizeof(*numbers)));
	assert_int_equal(numbers[old - 1], (old - 1) * 3 + 1);
	huge_zfree(numbers, old, sizeof(*numbers));
}

static void discarding_keeps_the_rest(void **state)
{
	const size_t nr = 1 << 20; /* 8 MB */
	uint64_t *numbers = huge_zalloc(nr, sizeof(*numbers));

	(void)state;
	assert_non_null(numbers);
	for (size_t forgotten = 0; forgotten <= nr; forgotten += nr / 16 + 1) {
		for (size_t i = forgotten; i < nr; i++)
			numbers[i] = i;
		huge_forget(numbers, forgotten * sizeof(*numbers));
		for (size_t i = forgotten; i < nr; i++)
			assert_int_equal(numbers[i], i);
	}
	huge_forget(numbers, nr * sizeof(*numbers));
	assert_int_equal(numbers[0], 0);
	huge_zfree(numbers, nr, sizeof(*numbers));
}

static void rejects_impossible_sizes(void **state)
{
	(void)state;
	assert_null(huge_zalloc(SIZE_MAX / 2, 8));
	assert_null(huge_zalloc(SIZE_MAX, 1));
	huge_zfree(NULL, 5 << 20, 1);
	assert_null(huge_alloc(SIZE_MAX - 100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growing_keeps_the_bytes),
		cmocka_unit_test(shrinking_keeps_the_remaining_bytes),
		cmocka_unit_test(allocates_big_arrays),
		cmocka_unit_test(zeroed_memory_is_zero),
		cmocka_unit_test(zeroed_memory_grows),
		cmocka_unit_test(discarding_keeps_the_rest),
		cmocka_unit_test(rejects_impossible_sizes),
	};

	return UNIT_RUN(tests);
}
