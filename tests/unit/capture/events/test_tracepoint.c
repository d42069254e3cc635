/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests tracepoints from the text in tracefs, and their raw data. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "capture/events/tracepoint.h"

/* The format file of the tracepoint in Linux 6.1. */
static const char module_load[] =
	"name: module_load\n"
	"ID: 412\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:unsigned int taints;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s %s\", __get_str(name), __print_flags(REC->taints, \"\")\n";

static void parses_a_format(void **state)
{
	struct tracepoint t;

	(void)state;
	assert_int_equal(tracepoint_parse(module_load, &t), 0);
	assert_int_equal(t.id, 412);
	assert_int_equal(t.name_at, 12);
	assert_int_equal(tracepoint_parse("", &t), -EBADMSG);
	assert_int_equal(tracepoint_parse("name: x\nID: 7\nformat:\n", &t), -EBADMSG);
	assert_int_equal(
		tracepoint_parse("\nID: x\n__data_loc char[] name;\toffset:12;", &t),
		-EBADMSG);
	assert_int_equal(tracepoint_read("no/such", &t), -ENOENT);
}

static void finds_names_in_raw_data(void **state)
{
	const struct tracepoint t = { .id = 412, .name_at = 12 };
	char raw[24] = { 0 };
	uint32_t loc = 16 | 5 << 16;

	(void)state;
	memcpy(raw + 12, &loc, sizeof(loc));
	memcpy(raw + 16, "ext4", 5);
	assert_string_equal(tracepoint_name(&t, raw, sizeof(raw)), "ext4");
	for (size_t len = 0; len < 21; len++)
		assert_null(tracepoint_name(&t, raw, len));
	raw[20] = 'x'; /* its end */
	assert_null(tracepoint_name(&t, raw, sizeof(raw)));
	loc = 16;
	memcpy(raw + 12, &loc, sizeof(loc));
	assert_null(tracepoint_name(&t, raw, sizeof(raw)));
	loc = 0xffff | 0xffffu << 16;
	memcpy(raw + 12, &loc, sizeof(loc));
	assert_null(tracepoint_name(&t, raw, sizeof(raw)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_a_format),
		cmocka_unit_test(finds_names_in_raw_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
