/* SPDX-License-Identifier: GPL-2.0-or-later */
/* digits.h - formats decimal numbers, optimized for millions of them.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	DIGITS_MAX = 20, /* for a uint64_t */
	DIGITS_ROOM = DIGITS_MAX + 4
};

/* Writes the decimal digits of `v` to the end of `digits`, without a NUL. Returns the number of
 * digits. */
size_t digits_of(char digits[DIGITS_MAX], uint64_t v);
/* Writes the decimal digits of `v` to the beginning of `to`, which has DIGITS_ROOM bytes; the
 * bytes after the digits are undefined. Returns the number of digits. */
size_t digits_put(char *to, uint64_t v);
