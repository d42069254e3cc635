/* recent.h - the last few different numbers that came, the latest first: what comes next is mostly
 * one of them, and told by its place.
 * Layer: format, private to it. */
#pragma once
#include <stdint.h>
#include <string.h>

/* The place of `number` among `nr`; `nr`: it is not there. */
static inline uint32_t recent_place(const uint32_t *numbers, uint32_t nr,
				    uint32_t number)
{
	uint32_t place = 0;

	while (place < nr && numbers[place] != number)
		place++;
	return place;
}

/* Moves `number` to the front, from its place.  Place *nr: it is new; then there is one more, or, if
 * there are `max` already, the last is forgotten. */
static inline void recent_use(uint32_t *numbers, uint32_t *nr, uint32_t max,
			      uint32_t place, uint32_t number)
{
	if (place < *nr && !place)
		return;
	if (place == *nr && *nr < max)
		++*nr;
	if (place == max)
		place--;
	memmove(numbers + 1, numbers, place * sizeof(*numbers));
	numbers[0] = number;
}
