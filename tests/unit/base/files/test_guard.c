/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "unit.h"

enum {
	OTHER_USER = 65534
};

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_guard-XXXXXX");
	return !mkdtemp(folder) || chdir(folder) || mkdir("above", 0755) ||
	       mkdir("above/held", 0755) || mkdir("victim", 0755) ||
	       mkdir("victim/held", 0755);
}

static int drop_folder(void **state)
{
	(void)state;
	guard_drop_path("above/held");
	return chdir("/") || io_remove_tree(folder);
}

static int guard_held(void)
{
	int fd = open("above", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = guard_add_path("above/held", fd);

	close(fd);
	return r;
}

/* Does what the owner of the directory above could do. */
static void replace_with_link(void)
{
	assert_int_equal(rename("above", "aside"), 0);
	assert_int_equal(symlink("victim", "above"), 0);
}

static bool is_there(const char *path)
{
	return !access(path, F_OK);
}

static void changes_stay_in_the_held_directory(void **state)
{
	char template[] = "above/held/t.XXXXXX.part";

	(void)state;
	assert_int_equal(guard_held(), 0);
	replace_with_link();
	assert_int_equal(io_write_file("above/held/f", "x", 1, 0600), 0);
	assert_int_equal(io_make_dirs("above/held/a/b", 0755), 0);
	assert_int_equal(io_mkdir("above/held/c", 0755), 0);
	assert_int_equal(io_link("above/held/f", "above/held/a/b/g"), 0);
	assert_int_equal(io_rename("above/held/f", "above/held/a/h"), 0);
	assert_int_equal(io_rename_new("above/held/a/h", "above/held/a/b/g"), -EEXIST);
	assert_int_equal(io_set_mode("above/held/a/h", 0640), 0);
	assert_int_equal(io_set_times("above/held/a/h", NULL), 0);
	close(io_open_temp(template, strlen(".part"), 0600));
	assert_true(is_there("aside/held/a/h"));
	assert_true(is_there("aside/held/a/b/g"));
	assert_true(is_there("aside/held/c"));
	assert_int_equal(io_unlink(template), 0);
	assert_int_equal(io_rmdir("above/held/c"), 0);
	assert_int_equal(io_remove_tree("above/held/a"), 0);
	/* No file is left in the first directory, and none was created in the second. */
	assert_int_equal(rmdir("aside/held"), 0);
	assert_int_equal(rmdir("victim/held"), 0);
}

static void keeps_files_of_others(void **state)
{
	(void)state;
	assert_int_equal(guard_held(), 0);
	assert_int_equal(mkdir("victim/held/dir", 0755), 0);
	close(open("victim/held/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(symlink("../../victim/held/dir", "above/held/dir"), 0);
	assert_int_equal(symlink("../../victim/held/file", "above/held/file"), 0);
	assert_int_equal(io_open("above/held/dir/new", O_WRONLY | O_CREAT, 0600),
			 -ELOOP);
	assert_int_equal(io_mkdir("above/held/dir/new", 0755), -ELOOP);
	assert_int_equal(io_open("above/held/file", O_WRONLY | O_TRUNC, 0), -ELOOP);
	assert_int_equal(io_open_lock("above/held/file"), -ELOOP);
	assert_int_equal(io_unlink("above/held/../../victim/held/file"), -EINVAL);
	assert_int_equal(io_unlink("above/held/file/x"), -ELOOP);
	assert_true(is_there("victim/held/file"));
}

static void does_not_enter_directories_of_others(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(guard_held(), 0);
	assert_int_equal(mkdir("above/held/dir", 0777), 0);
	assert_int_equal(chown("above/held/dir", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(io_write_file("above/held/dir/f", "x", 1, 0600), -EPERM);
	assert_int_equal(chown("above/held", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(io_write_file("above/held/f", "x", 1, 0600), -EPERM);
}

static void each_guard_is_dropped(void **state)
{
	(void)state;
	assert_int_equal(guard_length("above/held/x"), 0);
	assert_int_equal(guard_held(), 0);
	assert_int_equal(guard_held(), 0);
	guard_drop_path("above/held");
	assert_int_equal(guard_length("above/held/x"), strlen("above/held"));
	assert_int_equal(guard_length("above/heldx"), 0);
	guard_drop_path("above/held");
	assert_int_equal(guard_length("above/held/x"), 0);
	guard_drop_path("above/held");
}

static void does_not_write_a_planted_temporary_name(void **state)
{
	struct stat st;

	(void)state;
	close(open("victim/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(symlink("../victim/file", "above/f.part"), 0);
	assert_int_equal(io_write_file("above/f", "text", 4, 0600), 0);
	assert_int_equal(stat("victim/file", &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(stat("above/f", &st), 0);
	assert_int_equal(st.st_size, 4);
}

static void rejects_a_lock_file_with_two_names(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	close(open("victim/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	assert_int_equal(link("victim/file", "above/lock"), 0);
	assert_int_equal(io_open_lock("above/lock"), -EMLINK);
	assert_int_equal(stat("victim/file", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(unlink("above/lock"), 0);
	assert_int_equal(mkfifo("above/lock", 0644), 0);
	assert_int_equal(io_open_lock("above/lock"), -EINVAL);
	assert_int_equal(unlink("above/lock"), 0);
	fd = io_open_lock("above/lock");
	assert_true(fd >= 0);
	close(fd);
}

static void guards_everything_below_a_directory(void **state)
{
	int fd = open("above", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(guard_add_all("above/", fd), 0);
	close(fd);
	replace_with_link();
	assert_int_equal(io_make_dirs("above/new/dir", 0755), 0);
	assert_int_equal(io_write_file("above//new/f", "x", 1, 0600), 0);
	assert_true(is_there("aside/new/dir"));
	assert_true(is_there("aside/new/f"));
	assert_false(is_there("victim/new"));
	guard_drop_path("above/");
	assert_int_equal(guard_length("above/x"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_stay_in_the_held_directory,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(keeps_files_of_others, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(does_not_enter_directories_of_others,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(rejects_a_lock_file_with_two_names,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(guards_everything_below_a_directory,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(each_guard_is_dropped, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(does_not_write_a_planted_temporary_name,
						make_folder, drop_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
