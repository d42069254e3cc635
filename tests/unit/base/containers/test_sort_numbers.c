/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/containers/sort_numbers.h"

#include <stdlib.h>

#include "unit.h"

enum {
	MOST = 10000
};

/* xorshift64: the same numbers in each run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Sorts numbers whose low bits are their positions, which shows the order of equal ones. */
static void check(size_t nr, unsigned int shift, uint64_t mask)
{
	uint64_t *numbers = calloc(nr + 1, sizeof(*numbers));
	uint64_t *room = calloc(nr + 1, sizeof(*room));
	uint64_t seed = 88172645463325252ULL;
	uint64_t sum = 0;
	const uint64_t *sorted;

	assert_non_null(numbers);
	assert_non_null(room);
	for (size_t i = 0; i < nr; i++) {
		numbers[i] = (next_random(&seed) & mask) << shift | i;
		sum += numbers[i];
	}
	sorted = sort_numbers(numbers, room, nr, shift);
	assert_true(sorted == numbers || sorted == room);
	for (size_t i = 0; i < nr; i++)
		sum -= sorted[i];
	assert_true(!sum); /* no number is lost */
	/* Positions make all numbers different: sorted by the whole number, equal keys keep
	 * their order. */
	for (size_t i = 1; i < nr; i++)
		assert_true(sorted[i - 1] < sorted[i]);
	free(numbers);
	free(room);
}

static void equal_numbers_stay_in_order(void **state)
{
	/* Insertion sort, short digits, long digits, and the sizes around their limits. */
	static const size_t sizes[] = { 0,  1,   2,   3,    39,   40,   41,
					50, 191, 500, 2047, 2048, 2049, MOST };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		check(sizes[i], 14, 0); /* all of them equal */
		check(sizes[i], 14, 7); /* many equal ones */
		check(sizes[i], 32, UINT32_MAX);
		check(sizes[i], 14, (1ULL << 50) - 1);
		check(sizes[i], 50, 0x3f00 >> 2); /* a gap without bits below */
	}
}

/* Without the shift, the low bits also count, and numbers can use all 64 bits. */
static void sorts_64_bit_numbers(void **state)
{
	static uint64_t numbers[MOST], room[MOST];
	const uint64_t *sorted;

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		numbers[i] = UINT64_MAX - i * 0x1000100010001ULL;
	sorted = sort_numbers(numbers, room, MOST, 0);
	for (size_t i = 0; i < MOST; i++)
		assert_true(sorted[i] ==
			    UINT64_MAX - (MOST - 1 - i) * 0x1000100010001ULL);
}

/* Bits below the shift are ignored, so these keep their order. */
static void ignores_low_bits(void **state)
{
	uint64_t numbers[] = { 0x105, 0x104, 0x003, 0x103, 0x001, 0x002 };
	static const uint64_t expected[] = { 0x003, 0x001, 0x002, 0x105, 0x104, 0x103 };
	uint64_t room[6];

	(void)state;
	assert_memory_equal(sort_numbers(numbers, room, 6, 8), expected,
			    sizeof(expected));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(equal_numbers_stay_in_order),
		cmocka_unit_test(sorts_64_bit_numbers),
		cmocka_unit_test(ignores_low_bits),
	};

	return UNIT_RUN(cases);
}
