/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recent.h - keeps the last few distinct numbers, the latest first. The next number is usually
 * one of them and can be encoded by its position.
 * Layer: format, private to it. */
#pragma once
#include <stdint.h>
#include <string.h>

/* Returns the position of `number`, or `nr` if it is not in the list. */
static inline uint32_t recent_position(const uint32_t *numbers, uint32_t nr,
				       uint32_t number)
{
	uint32_t position = 0;

	while (position < nr && numbers[position] != number)
		position++;
	return position;
}

/* Moves `number` from its position to the front. Position *nr means that it is new: the list
 * grows by one or, if it has `max` entries, drops the last. */
static inline void recent_use(uint32_t *numbers, uint32_t *nr, uint32_t max,
			      uint32_t position, uint32_t number)
{
	if (position < *nr && !position)
		return;
	if (position == *nr && *nr < max)
		++*nr;
	if (position == max)
		position--;
	memmove(numbers + 1, numbers, position * sizeof(*numbers));
	numbers[0] = number;
}
