/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
	NO_DIGIT = 99
};

/* Returns the value of a hex digit, or -1. Uses a table, because the CPU cannot predict which kind
 * of digit follows in an address, and a mispredicted branch costs as much as the rest of the
 * parser. */
static int parse_digit_of(char c)
{
	static const uint8_t digits[256] = {
		['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
		['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	int digit = digits[(uint8_t)c];

	return digit ? digit - 1 : NO_DIGIT;
}

bool parse_u64_max(const char *s, uint64_t max, uint64_t *ret_v)
{
	unsigned int base = 10;
	uint64_t v = 0;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	}
	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned int d = (unsigned int)parse_digit_of(*s);

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	if (v > max)
		return false;
	*ret_v = v;
	return true;
}

bool parse_u64(const char *s, uint64_t *ret_v)
{
	return parse_u64_max(s, UINT64_MAX, ret_v);
}

/* Parses a decimal fraction and moves *s past it. Returns false if there are no digits or the
 * number is not finite. Does not use strtod(), which depends on the locale and accepts "nan",
 * "0x1p3" and blanks. */
static bool take_fraction(const char **s, double *ret_v)
{
	const char *p = *s;
	double v = 0, unit = 1;
	bool any = false;

	for (; isdigit((unsigned char)*p); p++, any = true)
		v = v * 10 + (*p - '0');
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++, any = true) {
			unit /= 10;
			v += (*p - '0') * unit;
		}
	if (!any || !isfinite(v))
		return false;
	*s = p;
	*ret_v = v;
	return true;
}

bool parse_double(const char *s, double *ret_v)
{
	double v;

	if (!take_fraction(&s, &v) || *s)
		return false;
	*ret_v = v;
	return true;
}

bool parse_hex_at(const char **s, uint64_t *ret_v)
{
	const char *p = *s;
	uint64_t v = 0;
	int digits = 0;

	for (int d; digits < 17 && (d = parse_digit_of(*p)) < 16; p++, digits++)
		v = v << 4 | (uint64_t)d;
	if (digits < 1 || digits > 16)
		return false;
	*s = p;
	*ret_v = v;
	return true;
}

bool parse_duration_ns(const char *s, uint64_t *ret_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "", 1e9 }, { "s", 1e9 },  { "ms", 1e6 },   { "us", 1e3 },
		{ "ns", 1 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
	};
	double v;

	if (!take_fraction(&s, &v))
		return false;
	for (size_t i = 0; i < COUNT_OF(units); i++)
		if (!strcmp(s, units[i].unit)) {
			if (v * units[i].ns > 9e18)
				return false;
			*ret_ns = (uint64_t)(v * units[i].ns + 0.5);
			return true;
		}
	return false;
}

size_t parse_source_position(const char *s, uint32_t *ret_line)
{
	const char *colon = strrchr(s, ':');
	uint64_t line;

	if (!colon || !parse_u64_max(colon + 1, UINT32_MAX, &line))
		return 0;
	*ret_line = (uint32_t)line;
	return (size_t)(colon - s);
}
