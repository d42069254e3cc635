/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "base/err.h"
#include "base/files/io.h"
#include "unit.h"

static char dir[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/session-list-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

static void make(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(io_write_file(path, "", 0, 0644), 0);
}

static void expect_next(const char *name)
{
	char *path;

	assert_int_equal(session_next_path(dir, &path, NULL), 0);
	assert_string_equal(strrchr(path, '/') + 1, name);
	free(path);
}

static void segments_come_in_the_order_of_their_numbers(void **state)
{
	static const char *const want[] = { "segment-000002", "segment-000010",
					    "segment-999999", "segment-1000000" };
	char **paths;
	size_t nr;
	struct err err;

	(void)state;
	expect_next("segment-000001");
	make("segment-000010");
	make("segment-1000000");
	make("segment-000002");
	expect_next("segment-1000001");
	make("segment-999999");
	make("segment-000003.tmp");
	make("segment-03");
	make("segment-0000011");
	make("segment-99999999999999999999999999");
	make("kallsyms.zst");
	assert_int_equal(session_list(dir, &paths, &nr, &err), 0);
	assert_int_equal(nr, 4);
	for (size_t i = 0; i < nr; i++) {
		assert_string_equal(strrchr(paths[i], '/') + 1, want[i]);
		free(paths[i]);
	}
	free(paths);
}

/* A merged segment replaces the segments that it was made from, even while those still exist. */
static void merged_segments_count_once(void **state)
{
	static const char *const want[] = { "segment-000001-000003", "segment-000004",
					    "segment-000005-000900", "segment-000901" };
	struct session_file *files;
	char **paths;
	size_t nr;
	struct err err;

	(void)state;
	make("segment-000001");
	make("segment-000001-000003");
	make("segment-000002");
	make("segment-000001-000002");
	make("segment-000003");
	make("segment-000004");
	make("segment-000004-000004");
	make("segment-000004-4");
	make("segment-000009-000004");
	make("segment-000005-000900");
	make("segment-000900");
	expect_next("segment-000901");
	make("segment-000901");
	assert_int_equal(session_list(dir, &paths, &nr, &err), 0);
	assert_int_equal(nr, 4);
	for (size_t i = 0; i < nr; i++)
		assert_string_equal(strrchr(paths[i], '/') + 1, want[i]);
	session_list_free(paths, nr);
	assert_int_equal(session_files(dir, &files, &nr), 0);
	assert_int_equal(nr, 9);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(files[i].covered, (i >= 1 && i <= 4) || i == 7);
	free(files);
}

static void reports_a_missing_session(void **state)
{
	char file[128];
	char **paths = NULL;
	size_t nr;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(session_list(dir, &paths, &nr, &err), -ENOENT);
	assert_non_null(strstr(err.text, dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	make("file");
	assert_int_equal(session_list(file, &paths, &nr, &err), -ENOENT);
	assert_int_equal(session_list("/no/such/dir", &paths, &nr, &err), -ENOENT);
	assert_null(paths);
}

/* A guessed number can be in use. */
static void an_unreadable_directory_gives_no_number(void **state)
{
	char *path = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(session_next_path("/no/such/dir", &path, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/no/such/dir"));
	assert_null(path);
}

static void reports_allocation_failure(void **state)
{
	(void)state;
	make("segment-000001");
	make("segment-000002");
	for (unsigned long n = 1;; n++) {
		char **paths = NULL;
		size_t nr = 0;
		bool failed;
		int r;

		alloc_fail_at(n);
		r = session_list(dir, &paths, &nr, NULL);
		failed = alloc_fail_off();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		for (size_t i = 0; i < nr; i++)
			free(paths[i]);
		free(paths);
		if (!failed)
			break;
	}
}

int main(void)
{
	static const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(
			segments_come_in_the_order_of_their_numbers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(merged_segments_count_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(reports_a_missing_session, set_up,
						tear_down),
		cmocka_unit_test(an_unreadable_directory_gives_no_number),
		cmocka_unit_test_setup_teardown(reports_allocation_failure, set_up,
						tear_down),
	};

	return UNIT_RUN(cases);
}
