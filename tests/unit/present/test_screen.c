#include "present/screen.h"

#include <string.h>

#include "base/buf.h"

#include "unit.h"

static void nothing_commands_the_terminal(void **state)
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
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		const char *text = rows[i / 2].text;
		struct buf out = { 0 };

		screen_put_safe(&out, text, strlen(text), i % 2);
		buf_put_u8(&out, 0);
		assert_string_equal((const char *)out.data,
				    i % 2 ? rows[i / 2].utf8 : rows[i / 2].ascii);
		buf_done(&out);
	}
}

static void what_stands_before_stays(void **state)
{
	struct buf out = { 0 };

	(void)state;
	buf_put(&out, "\n\033x\ny", 5);
	screen_make_safe(&out, 2);
	buf_put_u8(&out, 0);
	assert_string_equal((const char *)out.data, "\n\033x\\ny");
	buf_done(&out);
}

static void a_name_is_one_line(void **state)
{
	static const char *const rows[][2] = {
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "a\nb\033[2J\xff", "a\\nb\\x1b[2J\\xff" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char got[64] = "";
		FILE *out = fmemopen(got, sizeof(got), "w");

		assert_non_null(out);
		screen_write_name(out, rows[i][0]);
		fclose(out);
		assert_string_equal(got, rows[i][1]);
	}
}

static void columns_are_counted(void **state)
{
	(void)state;
	assert_int_equal(screen_columns("", 0), 0);
	assert_int_equal(screen_columns("abc", 3), 3);
	assert_int_equal(screen_columns("\xc3\xa9", 2), 1);
	assert_int_equal(screen_columns("e\xcc\x81", 3), 1);
	assert_int_equal(screen_columns("\xe4\xb8\xad\xe4\xb8\xad", 6), 4);
}

/* perf's limits. */
static void large_shares_have_colours(void **state)
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
		cmocka_unit_test(nothing_commands_the_terminal),
		cmocka_unit_test(what_stands_before_stays),
		cmocka_unit_test(a_name_is_one_line),
		cmocka_unit_test(columns_are_counted),
		cmocka_unit_test(large_shares_have_colours),
	};

	return UNIT_RUN(cases);
}
