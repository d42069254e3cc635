/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "alloc_fail.h"
#include "resolve/symbols/module_list.h"

static const char text[] =
	"ext4 0xffffffffc0100000 999424 0102ff .text=0xffffffffc0101000 bad "
	".data=0x0 .exit.text=0xffffffffc0180000\n"
	"snd_hda 0xffffffffc0200000 4096 -\n"
	"cut 0xffff\n"
	"odd zero 1 2\n"
	"last 0x10 1 0f0";

static int find(const char *module, struct module_line *ret)
{
	return module_line_find(text, sizeof(text) - 1, module, 0, ret);
}

static void parses_lines(void **state)
{
	struct module_line line;

	(void)state;
	assert_int_equal(find("ext4", &line), 0);
	assert_true(line.address == 0xffffffffc0100000);
	assert_int_equal(line.build_id.len, 3);
	assert_int_equal(line.build_id.bytes[2], 0xff);
	assert_int_equal(line.sections.nr, 2);
	assert_string_equal(line.sections.at[0].section, ".text");
	assert_true(line.sections.at[0].address == 0xffffffffc0101000);
	assert_string_equal(line.sections.at[1].section, ".exit.text");
	module_line_done(&line);
	assert_int_equal(find("snd-hda", &line), 0);
	assert_int_equal(line.build_id.len, 0);
	assert_int_equal(line.sections.nr, 0);
	module_line_done(&line);
	assert_int_equal(find("last", &line), 0);
	assert_int_equal(line.build_id.len, 0);
	module_line_done(&line);
}

/* If the module was loaded several times, the line with the given address is found. */
static void a_module_can_be_loaded_twice(void **state)
{
	static const char list[] = "a 0x10 1 01\na-b 0x10 1 02\na,b bad\n"
				   "a_b 0x30 1 03\na_b 0x30 1 04\n";
	static const struct {
		uint64_t address;
		uint8_t id;
	} rows[] = { { 0x10, 2 }, { 0x30, 3 }, { 0x20, 2 } };
	struct module_line line;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(module_line_find(list, sizeof(list) - 1, "a_b",
						  rows[i].address, &line),
				 0);
		assert_int_equal(line.build_id.bytes[0], rows[i].id);
		module_line_done(&line);
	}
}

static void rejects_malformed_lines(void **state)
{
	struct module_line line;

	(void)state;
	assert_int_equal(find("ext", &line), -ENODATA);
	assert_int_equal(find("ext44", &line), -ENODATA);
	assert_int_equal(find("", &line), -ENODATA);
	assert_int_equal(find("cut", &line), -EBADMSG);
	assert_int_equal(find("odd", &line), -EBADMSG);
	assert_int_equal(module_line_find(NULL, 0, "ext4", 0, &line), -ENODATA);
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		if (!module_line_find(text, len, "ext4", 0, &line))
			module_line_done(&line);
}

static void handles_allocation_failure(void **state)
{
	(void)state;
	for (unsigned long n = 1;; n++) {
		struct module_line line;
		bool failed;
		int r;

		alloc_fail_at(n);
		r = find("ext4", &line);
		failed = alloc_fail_off();
		if (!r)
			module_line_done(&line);
		if (!failed)
			break;
		assert_int_equal(r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(parses_lines),
		cmocka_unit_test(a_module_can_be_loaded_twice),
		cmocka_unit_test(rejects_malformed_lines),
		cmocka_unit_test(handles_allocation_failure),
	};

	return UNIT_RUN(cases);
}
