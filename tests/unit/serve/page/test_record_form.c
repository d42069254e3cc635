/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/record_form.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "format/foreign/json_walk.h"
#include "unit.h"

enum {
	LINE_BYTES = 1024
};

/* Makes the command line of a form, with '|' between arguments.  Returns 0 or the error. */
static int line_of(const char *json, char ret_line[LINE_BYTES], struct err *err)
{
	struct record_form form = { 0 };
	struct form_words w = { 0 };
	size_t len = 0;
	int r = record_form_parse(json, strlen(json), &form, err);

	if (!r)
		r = record_form_words(&form, "/dir", &w, err);
	ret_line[0] = '\0';
	for (size_t i = 0; !r && i < w.words.nr && w.words.at[i]; i++)
		len += (size_t)snprintf(ret_line + len, LINE_BYTES - len, "%s%s",
					i ? "|" : "", w.words.at[i]);
	form_words_done(&w);
	record_form_done(&form);
	return r;
}

static void makes_the_command_line(void **state)
{
	static const struct {
		const char *json, *line;
	} rows[] = {
		{ "{\"target\":\"program\",\"argv\":[\"./a b\",\"-x\",\"\",\"$(rm)\"]}",
		  "oprofile|record|--session-dir=/dir|--|./a b|-x||$(rm)" },
		{ "{\"target\":\"system\",\"callgraph\":\"fp\",\"separate\":[\"cpu\",\"library\"]}",
		  "oprofile|record|--session-dir=/dir|--callgraph=fp|--separate-cpu|--system-wide" },
		{ "{\"target\":\"process\",\"pid\":17,\"callgraph\":\"none\"}",
		  "oprofile|record|--session-dir=/dir|--pid=17" },
		{ "{\"target\":\"process\",\"pid\":\"--verbose\"}",
		  "oprofile|record|--session-dir=/dir|--pid=--verbose" },
		{ "{\"target\":\"system\",\"events\":[{\"name\":\"cycles\",\"rate\":99},"
		  "{\"name\":\"page-faults\",\"count\":\"1\",\"kernel\":false},"
		  "{\"name\":\"L2\",\"count\":600,\"mask\":\"all\",\"user\":false,\"kernel\":true}]}",
		  "oprofile|record|--session-dir=/dir|--event=cycles|--event=page-faults:1:u|"
		  "--event=L2:600:all:k|--frequency=99|--system-wide" },
		{ "{\"target\":\"daemon\",\"callgraph\":\"dwarf\",\"separate\":[\"kernel\"],"
		  "\"events\":[{\"name\":\"TIMER\",\"count\":1000000}]}",
		  "oprofile|control|--start|--event=TIMER:1000000|--callgraph=64|--separate=kernel" },
	};

	(void)state;
	if (!json_walk_version())
		skip();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		char line[LINE_BYTES];

		assert_int_equal(line_of(rows[i].json, line, &err), 0);
		assert_string_equal(line, rows[i].line);
	}
}

static void refuses_wrong_forms(void **state)
{
	static const char *const rows[] = {
		"",
		"[]",
		"{",
		"{\"target\":\"rm\"}",
		"{\"target\":1}",
		"{\"target\":\"program\"}",
		"{\"target\":\"program\",\"argv\":[\"\"]}",
		"{\"target\":\"program\",\"argv\":[\"a\\u0000b\"]}",
		"{\"target\":\"program\",\"argv\":[{}]}",
		"{\"target\":\"process\"}",
		"{\"target\":\"system\",\"callgraph\":\"fp,1 2\"}",
		"{\"target\":\"system\",\"events\":[{}]}",
		"{\"target\":\"system\",\"events\":[1]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a,b\"}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"mask\":\"b:c\"}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"mask\":\"3\"}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"count\":0}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"count\":-1}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"rate\":\"x\"}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"user\":1}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"user\":false,\"kernel\":false}]}",
		"{\"target\":\"system\",\"events\":[{\"name\":\"a\",\"rate\":1},{\"name\":\"b\",\"rate\":2}]}",
	};

	(void)state;
	if (!json_walk_version())
		skip();
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		char line[LINE_BYTES];

		assert_true(line_of(rows[i], line, &err) < 0);
		assert_true(err.text[0]);
	}
}

static void limits_the_number_of_elements(void **state)
{
	char json[LINE_BYTES * 4] = "{\"target\":\"program\",\"argv\":[\"a\"";
	size_t len = strlen(json);
	char line[LINE_BYTES];
	struct err err = { 0 };

	(void)state;
	if (!json_walk_version())
		skip();
	for (int i = 0; i < RECORD_FORM_WORDS; i++)
		len += (size_t)snprintf(json + len, sizeof(json) - len, ",\"a\"");
	snprintf(json + len, sizeof(json) - len, "]}");
	assert_int_equal(line_of(json, line, &err), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(makes_the_command_line),
		cmocka_unit_test(refuses_wrong_forms),
		cmocka_unit_test(limits_the_number_of_elements),
	};

	return UNIT_RUN(cases);
}
