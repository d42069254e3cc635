/* SPDX-License-Identifier: GPL-2.0-or-later */
/* saturate.h - sums that stop at the largest number instead of wrapping.
 * Layer: base. */
#pragma once
#include <stdint.h>

static inline uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t saturating_multiply(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}
