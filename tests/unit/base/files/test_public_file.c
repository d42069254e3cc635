/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/public_file.h"

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

static char top[64];

static int make_top(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/test_public_file-XXXXXX");
	return mkdtemp(top) ? chmod(top, 0755) : -1;
}

static int drop_top(void **state)
{
	(void)state;
	return io_remove_tree(top);
}

static const char *in_top(const char *name)
{
	static char paths[4][128];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void make_dir(const char *name, mode_t mode)
{
	assert_int_equal(mkdir(in_top(name), 0700), 0);
	assert_int_equal(chmod(in_top(name), mode), 0);
}

static void make_file(const char *name, mode_t mode)
{
	int fd = io_open(in_top(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static bool is_public(const char *name)
{
	int fd = io_open(in_top(name), O_RDONLY, 0);
	bool is;

	assert_true(fd >= 0);
	is = public_file(fd, in_top(name));
	close(fd);
	return is;
}

static void checks_the_mode_and_each_directory(void **state)
{
	(void)state;
	make_dir("open", 0755);
	make_dir("open/inner", 0711);
	make_file("open/inner/file", 0644);
	make_file("open/inner/own", 0640);
	assert_true(is_public("open/inner/file"));
	assert_false(is_public("open/inner/own"));
	assert_int_equal(chmod(in_top("open/inner"), 0754), 0);
	assert_false(is_public("open/inner/file"));
	assert_int_equal(chmod(in_top("open/inner"), 0755), 0);
	assert_int_equal(chmod(in_top("open"), 0750), 0);
	assert_false(is_public("open/inner/file"));
}

static void checks_real_directories(void **state)
{
	(void)state;
	make_dir("closed", 0700);
	make_file("closed/file", 0644);
	assert_int_equal(symlink("closed", in_top("link")), 0);
	assert_int_equal(symlink("closed/file", in_top("name")), 0);
	assert_false(is_public("link/file"));
	assert_false(is_public("name"));
	make_file("file", 0644);
	assert_int_equal(symlink("../file", in_top("closed/out")), 0);
	assert_true(is_public("closed/out"));
}

static void another_file_of_the_path_is_not_believed(void **state)
{
	int fd;

	(void)state;
	make_dir("hidden", 0700);
	make_file("hidden/file", 0644);
	make_file("shown", 0644);
	fd = io_open(in_top("hidden/file"), O_RDONLY, 0);
	assert_true(fd >= 0);
	assert_false(public_file(fd, in_top("shown")));
	assert_int_equal(unlink(in_top("hidden/file")), 0);
	assert_false(public_file(fd, in_top("hidden/file")));
	close(fd);
}

static void checks_all_files_of_a_recording(void **state)
{
	(void)state;
	make_dir("session", 0755);
	make_dir("session/below", 0755);
	make_file("session/below/file", 0644);
	assert_int_equal(symlink("nowhere", in_top("session/link")), 0);
	assert_true(public_file_recording(in_top("session")));
	assert_true(public_file_recording(in_top("session/below/file")));
	assert_int_equal(chmod(in_top("session/below/file"), 0640), 0);
	assert_false(public_file_recording(in_top("session")));
	assert_int_equal(chmod(in_top("session/below/file"), 0644), 0);
	assert_int_equal(chmod(in_top("session/below"), 0754), 0);
	assert_false(public_file_recording(in_top("session")));
	assert_int_equal(chmod(in_top("session/below"), 0755), 0);
	assert_int_equal(chmod(in_top("session"), 0754), 0);
	assert_false(public_file_recording(in_top("session")));
	assert_false(public_file_recording(in_top("missing")));
	/* The writer of a pipe is not known. */
	assert_int_equal(mkfifo(in_top("pipe"), 0600), 0);
	assert_true(public_file_recording(in_top("pipe")));
}

static bool is_same_private(const char *name, const char *other)
{
	int fd = io_open(in_top(name), O_RDONLY, 0);
	bool is;

	assert_true(fd >= 0);
	is = public_file_same_private(fd, in_top(name), in_top(other));
	close(fd);
	return is;
}

static void the_outermost_private_directory_is_the_tree(void **state)
{
	(void)state;
	make_dir("tree", 0700);
	make_dir("tree/src", 0700);
	make_dir("tree/build", 0755);
	make_dir("else", 0700);
	make_file("tree/src/file", 0644);
	make_file("tree/build/program", 0755);
	make_file("else/program", 0755);
	make_file("program", 0755);
	assert_true(is_same_private("tree/src/file", "tree/build/program"));
	assert_false(is_same_private("tree/src/file", "else/program"));
	assert_false(is_same_private("tree/src/file", "program"));
	assert_false(is_same_private("program", "program"));
	assert_false(is_same_private("tree/src/file", "tree/none/program"));
}

static void a_path_belongs_to_all_who_can_change_it(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	make_dir("user", 0755);
	make_dir("user/bin", 0755);
	make_file("user/bin/program", 0755);
	assert_true(public_file_path_is_of(in_top("user/bin/program"), 0));
	assert_int_equal(chown(in_top("user"), OTHER_USER, OTHER_USER), 0);
	assert_false(public_file_path_is_of(in_top("user/bin/program"), 0));
	assert_true(public_file_path_is_of(in_top("user/bin/program"), OTHER_USER));
	assert_false(
		public_file_path_is_of(in_top("user/bin/program"), OTHER_USER - 1));
	/* A link in a sticky directory leads to the program: the link must have the same owner. */
	make_dir("tmp", 01777);
	assert_int_equal(symlink("../user/bin", in_top("tmp/link")), 0);
	assert_int_equal(lchown(in_top("tmp/link"), OTHER_USER - 1, 0), 0);
	assert_false(public_file_path_is_of(in_top("tmp/link/program"), OTHER_USER));
	assert_int_equal(lchown(in_top("tmp/link"), OTHER_USER, 0), 0);
	assert_true(public_file_path_is_of(in_top("tmp/link/program"), OTHER_USER));
	assert_int_equal(chmod(in_top("tmp"), 0777), 0);
	assert_false(public_file_path_is_of(in_top("tmp/link/program"), OTHER_USER));
	assert_false(public_file_path_is_of(in_top("none/program"), 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(checks_the_mode_and_each_directory,
						make_top, drop_top),
		cmocka_unit_test_setup_teardown(checks_real_directories, make_top,
						drop_top),
		cmocka_unit_test_setup_teardown(
			another_file_of_the_path_is_not_believed, make_top, drop_top),
		cmocka_unit_test_setup_teardown(checks_all_files_of_a_recording,
						make_top, drop_top),
		cmocka_unit_test_setup_teardown(
			the_outermost_private_directory_is_the_tree, make_top,
			drop_top),
		cmocka_unit_test_setup_teardown(a_path_belongs_to_all_who_can_change_it,
						make_top, drop_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
