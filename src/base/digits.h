/* SPDX-License-Identifier: GPL-2.0-or-later */
/* digits.h - decimal digits of a number, for writers of millions of them.
 * Layer: base. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	DIGITS_MAX = 20, /* of a uint64_t */
	DIGITS_ROOM = DIGITS_MAX + 4
};

/* The digits of `v` into the end of `digits`; returns their number. */
size_t digits_of(char digits[DIGITS_MAX], uint64_t v);
/* The digits of `v` from the begin of `to` on, which has DIGITS_ROOM bytes: what is behind the digits
 * is anything.  Returns their number. */
size_t digits_put(char *to, uint64_t v);
