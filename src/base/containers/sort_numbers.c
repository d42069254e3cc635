/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/sort_numbers.h"

#include <string.h>

enum {
	/* for fewer numbers, insertion sort is faster than sorting by digits */
	FEW = 40,
	SHORT_BITS = 8,
	LONG_BITS = 11,
	LONG_NR = 1 << LONG_BITS, /* with this many numbers, longer digits are faster */
	KEY_BITS = 64
};

static void insert_each(uint64_t *numbers, size_t nr, unsigned int shift)
{
	for (size_t i = 1; i < nr; i++) {
		uint64_t n = numbers[i];
		size_t to = i;

		for (; to && numbers[to - 1] >> shift > n >> shift; to--)
			numbers[to] = numbers[to - 1];
		numbers[to] = n;
	}
}

/* Converts the count of each digit to the index of its first number. */
static void begin_digits(uint32_t *begins, size_t nr)
{
	uint32_t sum = 0;

	for (size_t d = 0; d < nr; d++) {
		uint32_t here = begins[d];

		begins[d] = sum;
		sum += here;
	}
}

static void sort_digit(const uint64_t *from, uint64_t *to, size_t nr,
		       unsigned int shift, unsigned int bits)
{
	uint32_t begins[1 << LONG_BITS];
	uint64_t mask = ((uint64_t)1 << bits) - 1;

	memset(begins, 0, sizeof(*begins) << bits);
	for (size_t i = 0; i < nr; i++)
		begins[from[i] >> shift & mask]++;
	begin_digits(begins, (size_t)1 << bits);
	for (size_t i = 0; i < nr; i++)
		to[begins[from[i] >> shift & mask]++] = from[i];
}

uint64_t *sort_numbers(uint64_t *numbers, uint64_t *room, size_t nr, unsigned int shift)
{
	unsigned int bits = nr < LONG_NR ? SHORT_BITS : LONG_BITS;
	uint64_t differ = 0;

	if (nr < FEW) {
		insert_each(numbers, nr, shift);
		return numbers;
	}
	for (size_t i = 1; i < nr; i++)
		differ |= numbers[i] ^ numbers[0];
	for (; shift < KEY_BITS && differ >> shift; shift += bits) {
		uint64_t *sorted = room;

		if (!(differ >> shift & (((uint64_t)1 << bits) - 1)))
			continue;
		sort_digit(numbers, room, nr, shift, bits);
		room = numbers;
		numbers = sorted;
	}
	return numbers;
}
