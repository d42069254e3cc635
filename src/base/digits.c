/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digits.h"

#include <string.h>

enum {
	THOUSAND = 1000,
	GROUP = 3, /* digits */
	COPIED = 4 /* bytes copied at a time */
};

#define ONES(p) p "0", p "1", p "2", p "3", p "4", p "5", p "6", p "7", p "8", p "9"
#define TENS(p)                                                                        \
	ONES(p "0"), ONES(p "1"), ONES(p "2"), ONES(p "3"), ONES(p "4"), ONES(p "5"),  \
		ONES(p "6"), ONES(p "7"), ONES(p "8"), ONES(p "9")

/* The numbers from 0 to 999 as text with leading zeros. */
static const char thousand[THOUSAND][COPIED] = { TENS("0"), TENS("1"), TENS("2"),
						 TENS("3"), TENS("4"), TENS("5"),
						 TENS("6"), TENS("7"), TENS("8"),
						 TENS("9") };

size_t digits_of(char digits[DIGITS_MAX], uint64_t v)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
	size_t at = DIGITS_MAX;

	while (v >= 100) {
		at -= 2;
		memcpy(digits + at, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(digits + at, pairs + v * 2, 2);
	} else {
		digits[--at] = (char)('0' + v);
	}
	return DIGITS_MAX - at;
}

/* Writes `v` (below 1000) and returns its number of digits. Avoids branches on the number of
 * digits, which the CPU cannot predict. */
static size_t put_below_thousand(char *to, uint64_t v)
{
	size_t zeros = (v < 100) + (v < 10);

	/* If `v` has fewer digits, the copy includes bytes of the next number in the table. */
	memcpy(to, (const char *)thousand + v * COPIED + zeros, COPIED);
	return GROUP - zeros;
}

size_t digits_put(char *to, uint64_t v)
{
	char digits[DIGITS_MAX];
	size_t nr;

	if (v < THOUSAND)
		return put_below_thousand(to, v);
	if (v < THOUSAND * THOUSAND) {
		nr = put_below_thousand(to, v / THOUSAND);
		memcpy(to + nr, thousand[v % THOUSAND], COPIED);
		return nr + GROUP;
	}
	nr = digits_of(digits, v);
	memcpy(to, digits + DIGITS_MAX - nr, nr);
	return nr;
}
