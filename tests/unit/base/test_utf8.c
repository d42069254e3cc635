/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares lengths with table 3-7 of the Unicode standard, and columns with wcwidth(3) of the C
 * library if it has a UTF-8 locale. */
#include "base/array.h"
#include "base/utf8.h"

#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "unit.h"

static void reads_characters(void **state)
{
	static const struct {
		const char *bytes;
		size_t len; /* length of the character; 0: invalid */
		uint32_t code;
	} rows[] = {
		{ "a", 1, 'a' },
		{ "\x7f", 1, 0x7f },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
		{ "\x80", 0, 0 },             /* a single continuation byte */
		{ "\xc1\xbf", 0, 0 },         /* overlong */
		{ "\xe0\x9f\xbf", 0, 0 },     /* overlong */
		{ "\xf0\x8f\xbf\xbf", 0, 0 }, /* overlong */
		{ "\xed\xa0\x80", 0, 0 },     /* a surrogate */
		{ "\xf4\x90\x80\x80", 0, 0 }, /* above U+10FFFF */
		{ "\xf5\x80\x80\x80", 0, 0 },
		{ "\xe2\x82", 0, 0 }, /* cut */
		{ "\xe2\x82z", 0, 0 },
		{ "\xff", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t code = 0;
		size_t len = utf8_next(rows[i].bytes, strlen(rows[i].bytes), &code);

		assert_int_equal(len, rows[i].len);
		assert_int_equal(code, rows[i].code);
	}
	assert_int_equal(utf8_next("", 1, NULL), 1);
}

static void counts_columns_like_a_terminal(void **state)
{
	(void)state;
	assert_int_equal(utf8_columns('a'), 1);
	assert_int_equal(utf8_columns(0xe9), 1);    /* e with an acute accent */
	assert_int_equal(utf8_columns(0x301), 0);   /* a single accent */
	assert_int_equal(utf8_columns(0x2026), 1);  /* an ellipsis */
	assert_int_equal(utf8_columns(0x4e2d), 2);  /* a Chinese character */
	assert_int_equal(utf8_columns(0xac00), 2);  /* a Korean syllable */
	assert_int_equal(utf8_columns(0xff21), 2);  /* a full-width A */
	assert_int_equal(utf8_columns(0x1f600), 2); /* a face */
}

/* Too wide only costs a few blanks; too narrow wraps the line. */
static void no_letter_is_too_narrow(void **state)
{
	size_t narrower = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	for (uint32_t code = 0x20; code < 0x30000; code++) {
		int columns = wcwidth((wchar_t)code);

		if (columns > 0 && utf8_columns(code) < (unsigned int)columns &&
		    !utf8_is_control(code))
			narrower++;
	}
	/* Allow for characters of later Unicode versions. */
	assert_true(narrower < 200);
}

static void recognizes_control_characters(void **state)
{
	static const uint32_t commands[] = { 0,      '\n',   0x1b,   0x1f,   0x7f,
					     0x80,   0x9b,   0x9f,   0x200e, 0x200f,
					     0x2028, 0x202a, 0x202e, 0x2066, 0x2069 };
	static const uint32_t others[] = { ' ',    '~',    0xa0,   0x2010,
					   0x2027, 0x202f, 0x2065, 0x206a };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		assert_true(utf8_is_control(commands[i]));
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_false(utf8_is_control(others[i]));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_characters),
		cmocka_unit_test(counts_columns_like_a_terminal),
		cmocka_unit_test(no_letter_is_too_narrow),
		cmocka_unit_test(recognizes_control_characters),
	};

	return UNIT_RUN(cases);
}
