/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "present/lines/json.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

static void escapes_text_and_makes_it_utf8(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "\"\"" },
		{ "plain", "\"plain\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\t\x01\x7f", "\"\\n\\t\\u0001\\u007f\"" },
		{ "\xc2\x9b\xe2\x80\xae", "\"\\u009b\\u202e\"" },
		{ "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "a\xff"
		  "b",
		  "\"a\xef\xbf\xbd"
		  "b\"" },
		{ "\xc3", "\"\xef\xbf\xbd\"" },                 /* cut short */
		{ "\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* overlong */
		{ "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xf4\x90\x80\x80",
		  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *got = NULL;
		size_t len;
		struct json j = { .out = open_memstream(&got, &len) };

		assert_non_null(j.out);
		json_text(&j, rows[i].text);
		fclose(j.out);
		assert_string_equal(got, rows[i].want);
		free(got);
	}
}

static void puts_commas_between_values(void **state)
{
	char *got = NULL;
	size_t len;
	struct json j = { .out = open_memstream(&got, &len) };

	(void)state;
	assert_non_null(j.out);
	json_begin_object(&j);
	json_name(&j, "a");
	json_u64(&j, UINT64_MAX);
	json_name(&j, "b");
	json_begin_array(&j);
	json_begin_object(&j);
	json_name(&j, "c");
	json_bool(&j, true);
	json_name(&j, "d");
	json_number(&j, "-1");
	json_end_object(&j);
	json_begin_array(&j);
	json_end_array(&j);
	json_end_array(&j);
	json_end_object(&j);
	fclose(j.out);
	assert_string_equal(got, "{\"a\":18446744073709551615,\n"
				 "\"b\":[{\"c\":true,\"d\":-1},\n[]]}");
	free(got);
}

/* The rows are longer than the buffer. */
static void writes_rows_of_numbers_as_arrays(void **state)
{
	static const uint32_t few[] = { 0, JSON_NONE, 4294967294 };
	static const uint64_t wide[] = { UINT64_MAX, 0 };
	uint32_t many[3000];
	char *got = NULL;
	size_t len;
	struct json j = { .out = open_memstream(&got, &len) };

	(void)state;
	assert_non_null(j.out);
	for (size_t i = 0; i < 3000; i++)
		many[i] = 7;
	json_begin_array(&j);
	json_u32s(&j, few, 3, "null");
	json_u32s(&j, few, 0, "null");
	json_u64s(&j, wide, 2);
	json_repeated(&j, "-1", 3);
	json_u32s(&j, many, 3000, "null");
	json_end_array(&j);
	fclose(j.out);
	assert_memory_equal(got,
			    "[[0,null,4294967294],\n[],\n"
			    "[18446744073709551615,0],\n[-1,-1,-1],\n[7,7,",
			    69);
	assert_int_equal(len, 64 + 1 + 2 * 3000 - 1 + 2);
	assert_string_equal(got + len - 6, ",7,7]]");
	free(got);
}

/* Rows that are longer than the buffer. */
static void writes_long_rows_completely(void **state)
{
	static char value[2 * JSON_ROW_BYTES];
	char *got = NULL;
	size_t len, at = 0;
	struct json j = { .out = open_memstream(&got, &len) };
	struct json_row row;

	(void)state;
	memset(value, 'v', sizeof(value));
	assert_non_null(j.out);
	json_repeated(&j, "null", 5000);
	json_begin_row(&row, &j);
	json_put_in_row(&row, "1", 1);
	json_put_in_row(&row, value, sizeof(value));
	for (size_t i = 0; i < 5000; i++)
		json_put_in_row(&row, "\"x\"", 3);
	json_end_row(&row);
	json_repeated(&j, "", 0);
	fclose(j.out);
	assert_int_equal(got[at], '[');
	for (size_t i = 0; i < 5000; i++, at += 5)
		assert_memory_equal(got + at + 1, "null", 4);
	assert_memory_equal(got + at, "],\n[1,", 6);
	assert_memory_equal(got + at + 6, value, sizeof(value));
	at += 6 + sizeof(value);
	for (size_t i = 0; i < 5000; i++, at += 4)
		assert_memory_equal(got + at, ",\"x\"", 4);
	assert_string_equal(got + at, "],\n[]");
	free(got);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(escapes_text_and_makes_it_utf8),
		cmocka_unit_test(puts_commas_between_values),
		cmocka_unit_test(writes_rows_of_numbers_as_arrays),
		cmocka_unit_test(writes_long_rows_completely),
	};

	return UNIT_RUN(cases);
}
