/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/keys.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"

#include "unit.h"

static void prints_keys_as_typed(void **state)
{
	struct key_list list = { 0 };

	(void)state;
	assert_int_equal(keys_parse(&list, "tgid,dso,time:10ms", NULL), 0);
	assert_int_equal(list.keys.nr, 3);
	assert_int_equal(list.keys.at[0].row->id, KEY_PID);
	assert_string_equal(list.keys.at[0].typed, "tgid");
	assert_int_equal(list.keys.at[1].row->id, KEY_IMAGE);
	assert_string_equal(list.keys.at[2].typed, "time:10ms");
	assert_int_equal(list.keys.at[2].width_ns, 10000000);
	assert_int_equal(keys_find(&list, KEY_IMAGE), 1);
	assert_int_equal(keys_find(&list, KEY_CPU), -1);
	keys_done(&list);
}

static void rejects_wrong_keys_with_a_reason(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{ "", "unknown key" },
		{ "comm,", "unknown key" },
		{ "symbl", "did you mean 'symbol'" },
		{ "cmm", "did you mean 'comm'" },
		{ "dsos", "did you mean 'dso'" },
		{ "sim", "did you mean 'sym'" },
		{ "sym,symbol", "twice" },
		{ "line,srcline", "twice" },
		{ "lines", "did you mean 'line'" },
		{ "file:3", "takes no" },
		{ "time", "width" },
		{ "time:0", "width" },
		{ "time:x", "width" },
		{ "comm:3", "takes no" },
		{ "pid,tgid", "twice" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct key_list list = { 0 };
		struct err err = { 0 };

		assert_int_equal(keys_parse(&list, rows[i].text, &err), -EINVAL);
		if (!strstr(err.text, rows[i].part))
			fail_msg("%s: %s", rows[i].text, err.text);
		keys_done(&list);
	}
}

static void marks_symbols_with_their_origin(void **state)
{
	static const struct {
		const char *keys;
		const char *marked;
	} rows[] = {
		{ "comm,dso,sym", "comm,dso,origin,sym" },
		{ "symbol,app", "origin,symbol,app" },
		{ "comm,dso", "comm,dso" },
		{ "symbol,origin", "symbol,origin" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct key_list got = { 0 };
		struct key_list want = { 0 };

		assert_int_equal(keys_parse(&got, rows[i].keys, NULL), 0);
		assert_int_equal(keys_parse(&want, rows[i].marked, NULL), 0);
		assert_int_equal(keys_mark_symbols(&got), 0);
		assert_int_equal(got.keys.nr, want.keys.nr);
		for (size_t k = 0; k < want.keys.nr; k++) {
			assert_ptr_equal(got.keys.at[k].row, want.keys.at[k].row);
			assert_int_equal(got.keys.at[k].implied,
					 !strstr(rows[i].keys, got.keys.at[k].typed));
		}
		keys_done(&got);
		keys_done(&want);
	}
}

static void every_row_has_a_description(void **state)
{
	(void)state;
	for (const struct key_row *row = key_rows; row->name; row++) {
		assert_true(row->refusal || (row->help && *row->help));
		for (const struct key_row *other = key_rows; other != row; other++)
			assert_string_not_equal(other->name, row->name);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(prints_keys_as_typed),
		cmocka_unit_test(rejects_wrong_keys_with_a_reason),
		cmocka_unit_test(marks_symbols_with_their_origin),
		cmocka_unit_test(every_row_has_a_description),
	};

	return UNIT_RUN(cases);
}
