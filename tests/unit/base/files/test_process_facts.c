/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/process_facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "unit.h"

static bool parse(const char *text, struct process_stat *ret_stat)
{
	static char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return process_stat_parse(copy, ret_stat);
}

static void a_name_can_contain_anything(void **state)
{
	struct process_stat s;

	(void)state;
	assert_true(parse(
		"7 (a) b (c\n) R 3 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 4711 23\n",
		&s));
	assert_string_equal(s.name, "a) b (c\n");
	assert_int_equal(s.state, 'R');
	assert_int_equal(s.parent, 3);
	assert_int_equal(s.group, 5);
	assert_int_equal(s.start_ticks, 4711);
	assert_true(parse("7 () S 0 0 -1 ", &s));
	assert_string_equal(s.name, "");
	assert_int_equal(s.start_ticks, 0);
}

static void malformed_texts_are_refused(void **state)
{
	static const char *const texts[] = { "",
					     "7",
					     "7 (a",
					     "7 a) S 1 2",
					     ")(",
					     "7 (a)",
					     "7 (a) S",
					     "7 (a) S 1",
					     "7 (a) S x 2",
					     "7 (a) S 1 -2",
					     "7 (a) S 2147483648 2" };
	struct process_stat s;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_false(parse(texts[i], &s));
}

static void this_process_is_read(void **state)
{
	struct buf text = { 0 };
	struct process_stat s;

	(void)state;
	assert_int_equal(process_stat_read(getpid(), &text, &s), 0);
	assert_int_equal(s.parent, getppid());
	assert_int_equal(s.group, getpgrp());
	assert_int_equal(s.state, 'R');
	assert_true(s.start_ticks > 0);
	buf_clear(&text);
	assert_int_equal(process_stat_read(INT32_MAX, &text, &s), -ENOENT);
	buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(a_name_can_contain_anything),
		cmocka_unit_test(malformed_texts_are_refused),
		cmocka_unit_test(this_process_is_read),
	};

	return UNIT_RUN(cases);
}
