/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/control_request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "unit.h"

static void parses_requests(void **state)
{
	static const struct {
		const char *line;
		enum control_verb verb;
		size_t nr_args;
		const char *last;
		bool for_all;
	} rows[] = {
		{ "status", CONTROL_STATUS, 0, NULL, true },
		{ "dump", CONTROL_DUMP, 0, NULL, true },
		{ "list", CONTROL_LIST, 0, NULL, true },
		{ "get 0/event", CONTROL_GET, 1, "0/event", true },
		{ "set dump 1", CONTROL_SET, 2, "1", true },
		{ "set enable 1", CONTROL_SET, 2, "1", false },
		{ "save a%20b", CONTROL_SAVE, 1, "a b", false },
		{ "setup A=1 B=2 C=%20", CONTROL_SETUP, 3, "C= ", false },
		{ "start", CONTROL_START, 0, NULL, false },
		{ "stop", CONTROL_STOP, 0, NULL, false },
		{ "reset", CONTROL_RESET, 0, NULL, false },
		{ "shutdown", CONTROL_SHUTDOWN, 0, NULL, false },
		{ "stream", CONTROL_STREAM, 0, NULL, false },
		{ "cookie 7", CONTROL_COOKIE, 1, "7", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct control_request request;
		struct err err = { 0 };
		char line[64];

		snprintf(line, sizeof(line), "%s", rows[i].line);
		assert_int_equal(control_request_parse(line, &request, &err), 0);
		assert_int_equal(request.verb, rows[i].verb);
		assert_int_equal(request.nr_args, rows[i].nr_args);
		if (rows[i].last)
			assert_string_equal(request.args[request.nr_args - 1],
					    rows[i].last);
		assert_int_equal(control_request_is_for_all(&request), rows[i].for_all);
	}
}

static void rejects_requests(void **state)
{
	static const struct {
		const char *line;
		const char *why;
	} rows[] = {
		{ "", "by one space" },
		{ "status ", "by one space" },
		{ "get %0", "by one space" },
		{ "Status", "unknown request \"Status\"" },
		{ "reboot now", "unknown request \"reboot\"" },
		{ "status now", "status takes no argument" },
		{ "save", "save takes the name of the session" },
		{ "set enable", "set takes a control file and its value" },
		{ "setup", "setup takes one or more KEY=VALUE" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct control_request request;
		struct err err = { 0 };
		char line[64];

		snprintf(line, sizeof(line), "%s", rows[i].line);
		assert_int_equal(control_request_parse(line, &request, &err), -EINVAL);
		if (!strstr(err.text, rows[i].why))
			fail_msg("\"%s\": %s", rows[i].line, err.text);
	}
}

static void rejects_too_many_arguments(void **state)
{
	char line[4 * (CONTROL_ARGS_MAX + 3)] = "setup";
	struct control_request request;
	struct err err = { 0 };
	size_t len = 5;

	(void)state;
	for (int i = 0; i < CONTROL_ARGS_MAX + 1; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " a=");
	assert_int_equal(control_request_parse(line, &request, &err), -EINVAL);
	assert_non_null(strstr(err.text, "at most 65"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_requests),
		cmocka_unit_test(rejects_requests),
		cmocka_unit_test(rejects_too_many_arguments),
	};

	return UNIT_RUN(tests);
}
