/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

static void set_stores_and_returns_the_error(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_set(&err, -EBADMSG, "block %d is bad", 7), -EBADMSG);
	assert_int_equal(err.code, -EBADMSG);
	assert_string_equal(err.text, "block 7 is bad");
}

static void sys_adds_the_reason(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(err_sys(&err, -ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_string_equal(err.text, "cannot open x: No such file or directory");
}

static void names_cannot_start_a_line(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, -EIO, "%s: bad", "a\nb\033");
	assert_string_equal(err.text, "a\\nb\\x1b: bad");
	err_sys(&err, -ENOENT, "%s", "a\nb");
	assert_string_equal(err.text, "a\\nb: No such file or directory");
	/* Line ends in the text are kept, even if the error is passed on. */
	err_set(&err, -EIO, "first\nsecond");
	assert_int_equal(err_set(&err, -EIO, "%s", "first\nsecond"), -EIO);
	assert_int_equal(err_prefix(&err, "x\n"), -EIO);
	assert_string_equal(err.text, "x\\n: first\nsecond");
}

static void a_long_name_keeps_the_reason(void **state)
{
	struct err err = { 0 };
	char name[2 * ERR_TEXT_MAX];

	(void)state;
	memset(name, '\033', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	err_sys(&err, -ENOENT, "cannot open %s", name);
	assert_non_null(strstr(err.text, "\\x1b: No such file or directory"));
}

static void prefixes_are_prepended(void **state)
{
	struct err err = { 0 };

	(void)state;
	err_set(&err, -EIO, "c");
	assert_int_equal(err_prefix(&err, "b%d", 2), -EIO);
	assert_int_equal(err_prefix(&err, "a"), -EIO);
	assert_string_equal(err.text, "a: b2: c");
}

static void null_is_accepted(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(err_sys(NULL, -EIO, "x"), -EIO);
	assert_true(err_prefix(NULL, "x") < 0);
}

static void truncates_long_texts(void **state)
{
	struct err err = { 0 };
	char text[2 * ERR_TEXT_MAX];

	(void)state;
	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	err_set(&err, -EIO, "%s", text);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_sys(&err, -EIO, "%s", text);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_prefix(&err, "pre");
	assert_memory_equal(err.text, "pre: yyy", 8);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
	err_prefix(&err, "%s", text);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(set_stores_and_returns_the_error),
		cmocka_unit_test(sys_adds_the_reason),
		cmocka_unit_test(names_cannot_start_a_line),
		cmocka_unit_test(a_long_name_keeps_the_reason),
		cmocka_unit_test(prefixes_are_prepended),
		cmocka_unit_test(null_is_accepted),
		cmocka_unit_test(truncates_long_texts),
	};

	return UNIT_RUN(cases);
}
