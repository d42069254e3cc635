/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/control_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

static void escaping_is_reversible(void **state)
{
	static const struct {
		const char *text;
		const char *word;
		const char *value;
	} rows[] = {
		{ "TIMER:0", "TIMER:0", "TIMER:0" },
		{ "", "%", "" },
		{ "%", "%25", "%25" },
		{ "a b", "a%20b", "a b" },
		{ "one\ntwo\t\x7f", "one%0Atwo%09%7F", "one%0Atwo%09%7F" },
		{ "gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buf word = { 0 };
		struct buf value = { 0 };

		control_put_word(&word, rows[i].text);
		control_put_value(&value, rows[i].text);
		buf_put_u8(&word, 0);
		buf_put_u8(&value, 0);
		assert_string_equal((char *)word.data, rows[i].word);
		assert_string_equal((char *)value.data, rows[i].value);
		assert_int_equal(control_unescape((char *)word.data), 0);
		assert_int_equal(control_unescape((char *)value.data), 0);
		assert_string_equal((char *)word.data, rows[i].text);
		assert_string_equal((char *)value.data, rows[i].text);
		buf_done(&word);
		buf_done(&value);
	}
}

static void rejects_bad_escapes(void **state)
{
	static const char *const rows[] = { "%2", "a%", "%zz", "%2g", "%00", "%%" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[8];

		snprintf(text, sizeof(text), "%s", rows[i]);
		assert_int_equal(control_unescape(text), -EBADMSG);
	}
}

static void splits_words(void **state)
{
	static const struct {
		const char *line;
		int want;
		const char *words[3];
	} rows[] = {
		{ "", 0, { NULL } },
		{ "status", 1, { "status" } },
		{ "set buffer_size 5", 3, { "set", "buffer_size", "5" } },
		{ "save a%20b", 2, { "save", "a b" } },
		{ "set event %", 3, { "set", "event", "" } },
		{ " status", -EBADMSG, { NULL } },
		{ "status ", -EBADMSG, { NULL } },
		{ "a  b", -EBADMSG, { NULL } },
		{ "a %0", -EBADMSG, { NULL } },
		{ "a b c d", -E2BIG, { NULL } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char line[64];
		char *at[3];
		int nr;

		snprintf(line, sizeof(line), "%s", rows[i].line);
		nr = control_split(line, at, 3);
		assert_int_equal(nr, rows[i].want);
		for (int k = 0; k < nr; k++)
			assert_string_equal(at[k], rows[i].words[k]);
	}
}

/* The lines do not depend on how the bytes are split. */
static void joins_lines_of_several_reads(void **state)
{
	static const char text[] = "status\nget cpu_type\n\ndump\nhalf";

	(void)state;
	for (size_t step = 1; step <= strlen(text); step++) {
		static const char *const want[] = { "status", "get cpu_type", "",
						    "dump" };
		struct control_lines l = { 0 };
		size_t nr = 0;
		char *line;

		for (size_t at = 0; at < strlen(text); at += step) {
			size_t len =
				strlen(text) - at < step ? strlen(text) - at : step;

			assert_int_equal(control_lines_add(&l, text + at, len), 0);
			while (control_lines_next(&l, &line) == 1) {
				assert_true(nr < 4);
				assert_string_equal(line, want[nr++]);
			}
		}
		assert_int_equal(nr, 4);
		control_lines_done(&l);
	}
}

static void rejects_bad_lines(void **state)
{
	char bytes[CONTROL_LINE_MAX + 1];
	struct control_lines l = { 0 };
	char *line;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	bytes[CONTROL_LINE_MAX - 1] = '\n';
	assert_int_equal(control_lines_add(&l, bytes, CONTROL_LINE_MAX), 0);
	assert_int_equal(control_lines_next(&l, &line), 1);
	assert_int_equal(strlen(line), CONTROL_LINE_MAX - 1);
	bytes[CONTROL_LINE_MAX - 1] = 'x';
	bytes[CONTROL_LINE_MAX] = '\n';
	assert_int_equal(control_lines_add(&l, bytes, sizeof(bytes)), 0);
	assert_int_equal(control_lines_next(&l, &line), -E2BIG);
	control_lines_done(&l);
	assert_int_equal(control_lines_add(&l, "a\0b\n", 4), 0);
	assert_int_equal(control_lines_next(&l, &line), -EBADMSG);
	control_lines_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escaping_is_reversible),
		cmocka_unit_test(rejects_bad_escapes),
		cmocka_unit_test(splits_words),
		cmocka_unit_test(joins_lines_of_several_reads),
		cmocka_unit_test(rejects_bad_lines),
	};

	return UNIT_RUN(tests);
}
