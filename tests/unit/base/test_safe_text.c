/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/safe_text.h"

#include <string.h>

#include "base/buf.h"

#include "unit.h"

static void replaces_terminal_control_characters(void **state)
{
	static const struct {
		const char *text;
		const char *utf8;
		const char *ascii;
	} rows[] = {
		{ "plain (text) \\", "plain (text) \\", "plain (text) \\" },
		{ "\033]0;owned\007", "\\x1b]0;owned\\x07", "\\x1b]0;owned\\x07" },
		{ "a\nb\tc\rd\177", "a\\nb\\tc\\x0dd\\x7f", "a\\nb\\tc\\x0dd\\x7f" },
		{ "gr\xc3\xb6\xc3\x9f"
		  "e",
		  "gr\xc3\xb6\xc3\x9f"
		  "e",
		  "gr\\xc3\\xb6\\xc3\\x9f"
		  "e" },
		{ "\xc2\x9b[2J", "\\xc2\\x9b[2J", "\\xc2\\x9b[2J" }, /* CSI of C1 */
		{ "\x9b[2J", "\\x9b[2J", "\\x9b[2J" },
		{ "\xe2\x80\xae"
		  "cod.exe",
		  "\\xe2\\x80\\xae"
		  "cod.exe",
		  "\\xe2\\x80\\xae"
		  "cod.exe" },                              /* right to left */
		{ "\xe4\xb8", "\\xe4\\xb8", "\\xe4\\xb8" }, /* cut */
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
		const char *text = rows[i / 2].text;
		struct buf out = { 0 };

		safe_text_put(&out, text, strlen(text), i % 2);
		buf_put_u8(&out, 0);
		assert_string_equal((const char *)out.data,
				    i % 2 ? rows[i / 2].utf8 : rows[i / 2].ascii);
		buf_done(&out);
	}
}

static void finds_the_first_unsafe_byte_at_each_position(void **state)
{
	char text[24];

	(void)state;
	for (size_t len = 1; len <= sizeof(text); len++)
		for (size_t at = 0; at < len; at++)
			for (unsigned int byte = 0; byte < 256; byte++) {
				bool is_safe = byte >= ' ' && byte < 0x7f;

				memset(text, at % 2 ? '~' : ' ', len);
				text[at] = (char)byte;
				assert_int_equal(safe_text_len(text, len, true),
						 is_safe ? len : at);
			}
}

static void truncates_between_characters(void **state)
{
	static const struct {
		const char *text;
		size_t room;
		bool lines;
		const char *want;
	} rows[] = {
		{ "plain", 1, false, "" },
		{ "plain", 4, false, "pla" },
		{ "plain", 6, false, "plain" },
		{ "gr\xc3\xbc\xc3\x9f", 5, false, "gr\xc3\xbc" },
		{ "gr\xc3\xbc\xc3\x9f", 6, false, "gr\xc3\xbc" },
		{ "a\033b", 5, false, "a" },
		{ "a\033b", 6, false, "a\\x1b" },
		{ "a\033b", 7, false, "a\\x1bb" },
		{ "a\nb\tc", 16, false, "a\\nb\\tc" },
		{ "a\nb\tc", 16, true, "a\nb\\tc" },
		{ "\xf4\x90\x80\x80", 32, true, "\\xf4\\x90\\x80\\x80" },
		{ "\xe2\x80\xae", 12, true, "" },
		{ "\xe2\x80\xae", 13, true, "\\xe2\\x80\\xae" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char out[32];
		size_t len =
			safe_text_copy(out, rows[i].room, rows[i].text, rows[i].lines);

		assert_string_equal(out, rows[i].want);
		assert_int_equal(len, strlen(out));
	}
}

static void a_mask_keeps_the_length(void **state)
{
	char plain[] = "gr\xc3\xbc\xc3\x9f";
	char text[] = "a\nb\xff\xe2\x80\xae"
		      "c\xc3\xbc";

	(void)state;
	assert_false(safe_text_mask(plain, sizeof(plain) - 1, '?'));
	assert_string_equal(plain, "gr\xc3\xbc\xc3\x9f");
	assert_true(safe_text_mask(text, sizeof(text) - 1, '?'));
	assert_string_equal(text, "a?b????c\xc3\xbc");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(replaces_terminal_control_characters),
		cmocka_unit_test(finds_the_first_unsafe_byte_at_each_position),
		cmocka_unit_test(truncates_between_characters),
		cmocka_unit_test(a_mask_keeps_the_length),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
