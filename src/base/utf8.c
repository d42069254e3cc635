/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include "base/array.h"

struct utf8_range {
	uint32_t first;
	uint32_t last;
};

/* Blocks of combining marks and invisible joiners (Unicode 15, general categories Mn, Me and
 * Cf) that occur in real names. All tables here are sorted. */
static const struct utf8_range combining[] = {
	{ 0x0300, 0x036f },   { 0x0483, 0x0489 }, { 0x0591, 0x05bd },
	{ 0x0610, 0x061a },   { 0x064b, 0x065f }, { 0x06d6, 0x06dc },
	{ 0x0900, 0x0902 },   { 0x093c, 0x093c }, { 0x0941, 0x0948 },
	{ 0x094d, 0x094d },   { 0x0e31, 0x0e31 }, { 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e },   { 0x1160, 0x11ff }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },   { 0x200b, 0x200d }, { 0x2060, 0x2064 },
	{ 0x20d0, 0x20ff },   { 0x302a, 0x302d }, { 0x3099, 0x309a },
	{ 0xfe00, 0xfe0f },   { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	{ 0xe0100, 0xe01ef },
};

/* East Asian Width W and F (UAX #11) as whole blocks, which include symbols and pictographs.
 * Overestimating a character's width costs a blank; underestimating it wraps a line. */
static const struct utf8_range wide[] = {
	{ 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2329, 0x232a },
	{ 0x23e9, 0x23f3 },   { 0x25fd, 0x25fe },   { 0x2600, 0x27bf },
	{ 0x2b1b, 0x2b55 },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
	{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
	{ 0xfe10, 0xfe19 },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },   { 0x16fe0, 0x18d08 }, { 0x1aff0, 0x1b2ff },
	{ 0x1f000, 0x1f6ff }, { 0x1f7e0, 0x1f7f0 }, { 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff }, { 0x20000, 0x2fffd }, { 0x30000, 0x3fffd },
};

static const struct utf8_range control[] = {
	{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x061c, 0x061c }, { 0x200e, 0x200f },
	{ 0x2028, 0x202e }, { 0x2066, 0x2069 }, { 0xfff9, 0xfffb },
};

#define IS_IN(table, code) utf8_is_in((table), COUNT_OF(table), (code))

static bool utf8_is_in(const struct utf8_range *table, size_t nr, uint32_t code)
{
	size_t low = 0;
	size_t high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code > table[mid].last)
			low = mid + 1;
		else
			high = mid;
	}
	return low < nr && table[low].first <= code;
}

static size_t length_by_first(uint8_t first)
{
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Returns whether the second byte of a character is valid, which depends on the first byte. */
static bool second_fits(uint8_t first, uint8_t second)
{
	uint8_t low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

	return second >= low && second <= high;
}

size_t utf8_next(const void *bytes, size_t left, uint32_t *ret_code)
{
	const uint8_t *s = bytes;
	uint32_t code = s[0];
	size_t len = 1;

	if (s[0] >= 0x80) {
		len = length_by_first(s[0]);
		if (!len || left < len || !second_fits(s[0], s[1]))
			return 0;
		code = s[0] & (0x7fu >> len);
		for (size_t i = 1; i < len; i++) {
			if ((s[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (s[i] & 0x3f);
		}
	}
	if (ret_code)
		*ret_code = code;
	return len;
}

size_t utf8_valid_len(const void *bytes, size_t len)
{
	const uint8_t *s = bytes;
	size_t i = 0;

	while (i < len) {
		size_t step = s[i] < 0x80 ? 1 : utf8_next(s + i, len - i, NULL);

		if (!step)
			break;
		i += step;
	}
	return i;
}

unsigned int utf8_columns(uint32_t code)
{
	if (code < 0x300)
		return 1;
	if (IS_IN(combining, code))
		return 0;
	return IS_IN(wide, code) ? 2 : 1;
}

bool utf8_is_control(uint32_t code)
{
	return IS_IN(control, code);
}
