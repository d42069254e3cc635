/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resolve/lines/later.h"
#include "resolve/lines/lines.h"
#include "tools/caches/background.h"

static char folder[] = "/tmp/oprofile-unit-XXXXXX";
static bool child_writes;
static size_t nr_written;

/* Runs first in the child of fork(). */
static void in_child(void)
{
	if (!child_writes)
		_exit(0);
}

static int count_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)ftw;
	/* The writer's lock file is empty. */
	nr_written += type == FTW_F && st->st_size > 0;
	return 0;
}

static size_t written(void)
{
	nr_written = 0;
	assert_int_equal(nftw(folder, count_one, 8, FTW_PHYS), 0);
	return nr_written;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Acts like a report that reads the lines of this program. */
static void report(void)
{
	struct line_later later = { 0 };
	struct lines_options options = { .cache_dir = folder, .later = &later };
	struct lines *lines;

	assert_int_equal(lines_open_path(&options, "/proc/self/exe", &lines, NULL), 0);
	assert_true(lines_has_info(lines));
	lines_prepare_all(lines);
	lines_free(lines);
	assert_true(line_later_any(&later));
	assert_int_equal(written(), 0);
	cache_write_in_background(&later);
	assert_false(line_later_any(&later));
}

static void wait_for_child(void)
{
	int status;

	while (waitpid(-1, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* The report does not write the index itself: if the other process writes nothing, nothing is
 * written. */
static void test_report_itself_writes_nothing(void **state)
{
	(void)state;
	child_writes = false;
	report();
	wait_for_child();
	assert_int_equal(written(), 0);
}

static void test_other_process_writes(void **state)
{
	(void)state;
	child_writes = true;
	report();
	wait_for_child();
	assert_int_equal(written(), 1);
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(folder) || pthread_atfork(NULL, NULL, in_child);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_itself_writes_nothing),
		cmocka_unit_test(test_other_process_writes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
