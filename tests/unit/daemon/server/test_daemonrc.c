/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "daemon/server/daemonrc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files/io.h"

#include "unit.h"

/* Settings as written by opcontrol of OProfile 0.9. */
static const char of_oprofile[] = "SESSION_DIR=/var/lib/oprofile\n"
				  "CHOSEN_EVENTS_0=CPU_CLK_UNHALTED:100000:0:1:1\n"
				  "CHOSEN_EVENTS_1=DATA_MEM_REFS:30000:0:0:1\n"
				  "NR_CHOSEN=2\n"
				  "SEPARATE_LIB=1\n"
				  "VMLINUX=none\n"
				  "IMAGE_FILTER=\n"
				  "CPU_BUF_SIZE=0\n";

static void reads_files_of_oprofile(void **state)
{
	struct daemonrc rc = { 0 };
	struct buf text = { 0 };

	(void)state;
	assert_int_equal(
		daemonrc_parse(&rc, "rc", of_oprofile, strlen(of_oprofile), NULL), 0);
	assert_string_equal(daemonrc_get(&rc, "VMLINUX"), "none");
	assert_string_equal(daemonrc_get(&rc, "IMAGE_FILTER"), "");
	assert_null(daemonrc_get(&rc, "BUF_SIZE"));
	assert_int_equal(daemonrc_number(&rc, "SEPARATE_LIB", 7), 1);
	assert_int_equal(daemonrc_number(&rc, "BUF_SIZE", 7), 7);
	assert_int_equal(daemonrc_number(&rc, "VMLINUX", 7), 7);
	assert_int_equal(daemonrc_nr_events(&rc), 2);
	assert_string_equal(daemonrc_event(&rc, 1), "DATA_MEM_REFS:30000:0:0:1");
	daemonrc_write(&rc, &text);
	assert_int_equal(text.len, strlen(of_oprofile));
	assert_memory_equal(text.data, of_oprofile, text.len);
	buf_done(&text);
	daemonrc_done(&rc);
}

static void parses_lines(void **state)
{
	static const struct {
		const char *text;
		const char *value; /* value of A; NULL: refused, with the message */
		const char *message;
	} rows[] = {
		{ "A=1", "1", NULL },
		{ "  A=1  # one\n", "1", NULL },
		{ "A=1\r\n", "1", NULL },
		{ "A=1\nA=2\n", "2", NULL },
		{ "A=b=c\n", "b=c", NULL },
		{ "A='a b'\n", "a b", NULL },
		{ "A=\"a 'b' \\\"c\\\"\"\n", "a 'b' \"c\"", NULL },
		{ "A=a\\ b\n", "a b", NULL },
		{ "A='a'\"b\"c\n", "abc", NULL },
		{ "# A=1\n\nA=2", "2", NULL },
		{ "\nA\n", NULL, "f:2: 'A' is not KEY=VALUE" },
		{ "B=1\nA b=1\n", NULL, "f:2: Invalid variable \"A b\"" },
		{ "=1\n", NULL, "f:1: Invalid variable \"\"" },
		{ "A=1 2\n", NULL, "f:1: Invalid value of A" },
		{ "A='1\n", NULL, "f:1: Invalid value of A" },
		{ "A=\a\n", NULL, "f:1: Invalid value of A" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct daemonrc rc = { 0 };
		struct err err = { 0 };
		int r = daemonrc_parse(&rc, "f", rows[i].text, strlen(rows[i].text),
				       &err);

		if (rows[i].value) {
			assert_int_equal(r, 0);
			assert_string_equal(daemonrc_get(&rc, "A"), rows[i].value);
		} else {
			assert_int_equal(r, -EINVAL);
			assert_string_equal(err.text, rows[i].message);
		}
		daemonrc_done(&rc);
	}
}

static void numbers_events(void **state)
{
	struct daemonrc rc = { 0 };

	(void)state;
	assert_int_equal(daemonrc_nr_events(&rc), 0);
	assert_int_equal(daemonrc_add_event(&rc, "TIMER:0"), 0);
	assert_int_equal(daemonrc_set(&rc, "VMLINUX", "none"), 0);
	assert_int_equal(daemonrc_add_event(&rc, "page-faults:1"), 0);
	assert_string_equal(daemonrc_get(&rc, "NR_CHOSEN"), "2");
	assert_string_equal(daemonrc_event(&rc, 0), "TIMER:0");
	daemonrc_clear_events(&rc);
	assert_int_equal(daemonrc_nr_events(&rc), 0);
	assert_int_equal(rc.entries.nr, 1);
	/* The number of chosen events is larger than the number of stored events. */
	assert_int_equal(daemonrc_set(&rc, "NR_CHOSEN", "99999999"), 0);
	assert_int_equal(daemonrc_nr_events(&rc), 0);
	daemonrc_done(&rc);
}

static void rejects_values_that_cannot_be_stored(void **state)
{
	struct daemonrc rc = { 0 };
	char key[16];

	(void)state;
	assert_int_equal(daemonrc_set(&rc, "A-B", "1"), -EINVAL);
	assert_int_equal(daemonrc_set(&rc, "", "1"), -EINVAL);
	assert_int_equal(daemonrc_set(&rc, "A", "1\n2"), -EINVAL);
	assert_int_equal(daemonrc_set(&rc, "A", NULL), 0);
	for (int i = 0; i < DAEMONRC_KEYS_MAX; i++) {
		snprintf(key, sizeof(key), "K%d", i);
		assert_int_equal(daemonrc_set(&rc, key, "1"), 0);
	}
	assert_int_equal(daemonrc_set(&rc, "ONE_MORE", "1"), -E2BIG);
	assert_int_equal(daemonrc_set(&rc, "K5", "2"), 0);
	daemonrc_done(&rc);
}

static void writes_a_file_in_a_new_directory(void **state)
{
	char dir[] = "/tmp/daemonrc-XXXXXX";
	char path[64];
	struct daemonrc rc = { 0 };
	struct daemonrc again = { 0 };
	struct err err = { 0 };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/.oprofile/daemonrc", dir);
	assert_int_equal(daemonrc_load(&again, path, &err), -ENOENT);
	assert_string_equal(err.text, "");
	assert_int_equal(daemonrc_set(&rc, "VMLINUX", "/boot/a \"$b\" `c`\\"), 0);
	assert_int_equal(daemonrc_save(&rc, path, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(daemonrc_load(&again, path, &err), 0);
	assert_string_equal(daemonrc_get(&again, "VMLINUX"), "/boot/a \"$b\" `c`\\");
	/* The directory cannot be created, because a file has its name. */
	snprintf(path, sizeof(path), "%s/.oprofile/daemonrc/rc", dir);
	assert_int_equal(daemonrc_save(&rc, path, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, path));
	daemonrc_done(&rc);
	daemonrc_done(&again);
	assert_int_equal(io_remove_tree(dir), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(reads_files_of_oprofile),
		cmocka_unit_test(parses_lines),
		cmocka_unit_test(numbers_events),
		cmocka_unit_test(rejects_values_that_cannot_be_stored),
		cmocka_unit_test(writes_a_file_in_a_new_directory),
	};

	return UNIT_RUN(cases);
}
