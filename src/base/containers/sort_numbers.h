/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sort_numbers.h - sorts 64-bit numbers, in time linear in how many they are.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Sorts `nr` numbers by their bits from `shift` (less than 64) up; those that are equal there stay
 * in their order.  `room` is for as many.  Returns where they are now: `numbers` or `room`. */
uint64_t *sort_numbers(uint64_t *numbers, uint64_t *room, size_t nr,
		       unsigned int shift);
