/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/names.h"

#include "unit.h"

static void a_name_belongs_to_one_file(void **state)
{
	const struct stat one = { .st_dev = 1, .st_ino = 2 };
	const struct stat other = { .st_dev = 1, .st_ino = 3 };
	struct archive_names n = { 0 };

	(void)state;
	assert_int_equal(archive_names_check(&n, "a/b", &one), ARCHIVE_NAME_FREE);
	assert_int_equal(archive_names_add(&n, "a/b", &one), 0);
	assert_int_equal(archive_names_find(&n, "a/b"), 0);
	assert_int_equal(archive_names_check(&n, "a/b", &one), ARCHIVE_NAME_SAME);
	assert_int_equal(archive_names_check(&n, "a/b", &other), ARCHIVE_NAME_OTHER);
	/* A file cannot be a directory as well. */
	assert_int_equal(archive_names_check(&n, "a", &other), ARCHIVE_NAME_OTHER);
	assert_int_equal(archive_names_check(&n, "a/b/c", &other), ARCHIVE_NAME_OTHER);
	assert_int_equal(archive_names_check(&n, "a/bc", &other), ARCHIVE_NAME_FREE);
	archive_names_done(&n);
}

static void a_name_in_the_cache_is_a_build_id(void **state)
{
	static const char name[] = ".debug/.build-id/ab/cdef/elf";
	const struct stat one = { .st_dev = 1, .st_ino = 2 };
	const struct stat other = { .st_dev = 1, .st_ino = 3 };
	struct archive_names n = { 0 };

	(void)state;
	assert_int_equal(archive_names_add(&n, name, &one), 0);
	assert_int_equal(archive_names_check(&n, name, &other), ARCHIVE_NAME_SAME);
	archive_names_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_belongs_to_one_file),
		cmocka_unit_test(a_name_in_the_cache_is_a_build_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
