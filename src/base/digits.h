/* digits.h - decimal digits of a number, for writers of millions of them.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	DIGITS_MAX = 20 /* of a uint64_t */
};

/* The digits of `v` into the end of `digits`; returns their number. */
size_t digits_of(char digits[DIGITS_MAX], uint64_t v);
