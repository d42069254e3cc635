/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "present/lines/screen.h"

#include <string.h>

#include "base/buf.h"

#include "unit.h"

static void keeps_the_text_before_the_name(void **state)
{
	struct buf out = { 0 };

	(void)state;
	buf_put(&out, "\n\033x\ny", 5);
	screen_make_safe(&out, 2);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, "\n\033x\\ny");
	buf_done(&out);
}

static void a_name_stays_on_one_line(void **state)
{
	static const char *const rows[][2] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\nb\033[2J\xff", "a\\nb\\x1b[2J\\xff" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char got[64] = "";
		FILE *out = fmemopen(got, sizeof(got), "w");

		assert_non_null(out);
		screen_write_name(out, rows[i][0]);
		fclose(out);
		assert_string_equal(got, rows[i][1]);
	}
}

static void keeps_tabs_of_code(void **state)
{
	static const char code[] = "\tint x;\t/* \033[31m\xff */\f";
	char got[64] = "";
	FILE *out = fmemopen(got, sizeof(got), "w");

	(void)state;
	assert_non_null(out);
	screen_write_code(out, code, sizeof(code) - 1);
	screen_write_masked(out, "|a\nb\xff|");
	screen_print_line(out, "%s: %d", "a\nb", 3);
	fclose(out);
	assert_string_equal(got, "\tint x;\t/* \\x1b[31m\\xff */\\x0c|a?b?|a\\nb: 3\n");
}

static void counts_columns(void **state)
{
	(void)state;
	assert_int_equal(screen_columns("", 0), 0);
	assert_int_equal(screen_columns("abc", 3), 3);
	assert_int_equal(screen_columns("\xc3\xa9", 2), 1);
	assert_int_equal(screen_columns("e\xcc\x81", 3), 1);
	assert_int_equal(screen_columns("\xe4\xb8\xad\xe4\xb8\xad", 6), 4);
}

/* The limits are those of perf. */
static void colours_large_shares(void **state)
{
	const struct screen colour = { .colour = true };
	const struct screen plain = { .is_terminal = true };

	(void)state;
	assert_string_equal(screen_share_colour(&colour, 100), "\033[31m");
	assert_string_equal(screen_share_colour(&colour, 5), "\033[31m");
	assert_string_equal(screen_share_colour(&colour, 4.999), "\033[32m");
	assert_string_equal(screen_share_colour(&colour, 0.5), "\033[32m");
	assert_string_equal(screen_share_colour(&colour, 0.499), "");
	assert_string_equal(screen_share_colour(&plain, 100), "");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(keeps_the_text_before_the_name),
		cmocka_unit_test(a_name_stays_on_one_line),
		cmocka_unit_test(keeps_tabs_of_code),
		cmocka_unit_test(counts_columns),
		cmocka_unit_test(colours_large_shares),
	};

	return UNIT_RUN(cases);
}
