/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort_numbers.h - sorts 64-bit numbers in linear time.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Sorts `nr` numbers by their bits from `shift` (less than 64) upwards. The sort is stable. `room`
 * is a buffer of the same size. Returns the buffer that contains the result: `numbers` or
 * `room`. */
uint64_t *sort_numbers(uint64_t *numbers, uint64_t *room, size_t nr,
		       unsigned int shift);
