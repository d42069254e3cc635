/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/containers/sort_keys.h"

#include <errno.h>
#include <stdlib.h>

enum {
	RADIX_BITS = 11,
	RADIX_SIZE = 1 << RADIX_BITS
};

static uint32_t radix_digit(uint64_t v, unsigned int shift)
{
	return (uint32_t)(v >> shift) & (RADIX_SIZE - 1);
}

/* Sorts by radix, least significant digit first. Equal keys keep their order, so the result does
 * not depend on the C library's qsort(). Digits that are equal in all keys are skipped, so offsets
 * in a file need two or three passes. */
static int radix_sort(struct sort_key **keys, size_t nr)
{
	struct sort_key *from = *keys;
	struct sort_key *to = malloc(nr * sizeof(*to));
	uint64_t all_or = 0;
	uint64_t all_and = UINT64_MAX;

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		all_or |= from[i].at;
		all_and &= from[i].at;
	}
	for (unsigned int shift = 0; shift < 64; shift += RADIX_BITS) {
		uint32_t count[RADIX_SIZE] = { 0 };
		uint32_t sum = 0;
		struct sort_key *spare;

		if (!radix_digit(all_or ^ all_and, shift))
			continue;
		for (size_t i = 0; i < nr; i++)
			count[radix_digit(from[i].at, shift)]++;
		for (size_t d = 0; d < RADIX_SIZE; d++) {
			uint32_t here = count[d];

			count[d] = sum;
			sum += here;
		}
		for (size_t i = 0; i < nr; i++)
			to[count[radix_digit(from[i].at, shift)]++] = from[i];
		spare = from;
		from = to;
		to = spare;
	}
	*keys = from;
	free(to);
	return 0;
}

int sort_keys(struct sort_key **keys, size_t nr)
{
	const struct sort_key *k = *keys;

	for (size_t i = 1; i < nr; i++) {
		if (k[i].at < k[i - 1].at)
			return radix_sort(keys, nr);
	}
	return 0;
}
