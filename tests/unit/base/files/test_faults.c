/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "unit.h"

static char last[1024];
static unsigned int nr_said;

static void note(enum log_level level, const char *text)
{
	assert_int_equal(level, LOG_WARNING);
	snprintf(last, sizeof(last), "%s", text);
	nr_said++;
}

static int set_up(void **state)
{
	(void)state;
	log_set_sink(note);
	nr_said = 0;
	return 0;
}

/* The list belongs to the process, so this case comes first. */
static void missing_files_are_not_reported(void **state)
{
	(void)state;
	assert_int_equal(fault_unreadable("/a", -ENOENT), -ENOENT);
	assert_int_equal(fault_unreadable("/a", -ENOTDIR), -ENOTDIR);
	assert_int_equal(fault_unreadable("/a", 0), 0);
	assert_int_equal(fault_unreadable_try("/a", -EACCES), -EACCES);
	assert_int_equal(nr_said, 0);
	assert_false(fault_any_loss());
	assert_false(fault_is_reported("/a"));
}

static void refused_files_are_not_a_loss(void **state)
{
	(void)state;
	fault_unreadable("/refused", -EACCES);
	assert_int_equal(nr_said, 1);
	assert_int_equal(fault_count(FAULT_REFUSED), 1);
	assert_false(fault_any_loss());
}

static void damage_is_a_loss(void **state)
{
	(void)state;
	fault_damaged("/damaged", "it ends early");
	fault_damaged("/damaged", "it ends early");
	assert_int_equal(nr_said, 1);
	assert_string_equal(last,
			    "ignoring the damaged file '/damaged': it ends early");
	assert_int_equal(fault_count(FAULT_DAMAGED), 1);
	assert_true(fault_any_loss());
	assert_false(fault_is_reported("/damaged"));
}

static void incomplete_files_are_a_loss(void **state)
{
	(void)state;
	fault_incomplete("x.txt", "2 lines were not recognised");
	fault_incomplete("x.txt", "2 lines were not recognised");
	assert_int_equal(nr_said, 1);
	assert_string_equal(last, "x.txt: 2 lines were not recognised");
	assert_int_equal(fault_count(FAULT_INCOMPLETE), 1);
	assert_true(fault_any_loss());
}

static void each_file_is_reported_once(void **state)
{
	(void)state;
	assert_int_equal(fault_unreadable("/a", -EIO), -EIO);
	assert_int_equal(fault_unreadable("/a", -EMFILE), -EMFILE);
	assert_int_equal(nr_said, 1);
	assert_string_equal(
		last,
		"cannot read '/a': Input/output error: its contents are missing from the result");
	fault_unreadable_try("/b", -ELOOP);
	assert_int_equal(nr_said, 2);
	assert_int_equal(fault_count(FAULT_UNREADABLE), 2);
	assert_true(fault_is_reported("/b"));
}

static void open_files_have_names(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	fault_unreadable_fd(fd, -EIO);
	assert_non_null(strstr(last, "/test_base_files_faults'"));
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup(missing_files_are_not_reported, set_up),
		cmocka_unit_test_setup(refused_files_are_not_a_loss, set_up),
		cmocka_unit_test_setup(damage_is_a_loss, set_up),
		cmocka_unit_test_setup(incomplete_files_are_a_loss, set_up),
		cmocka_unit_test_setup(each_file_is_reported_once, set_up),
		cmocka_unit_test_setup(open_files_have_names, set_up),
	};

	return UNIT_RUN(cases);
}
