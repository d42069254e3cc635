/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "unit.h"

enum {
	OTHER_USER = 65534
};

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_output-XXXXXX");
	return !mkdtemp(folder) || chdir(folder) || mkdir("shared", 0777) ||
	       chmod("shared", 01777) || mkdir("plain", 0755) ||
	       io_write_file("victim", "secret", 6, 0644);
}

static int drop_folder(void **state)
{
	(void)state;
	return chdir("/") || io_remove_tree(folder);
}

static off_t bytes_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void plant(const char *target, const char *link, uid_t owner)
{
	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(lchown(link, owner, owner), 0);
}

static void expect_open(const char *path, int expected)
{
	struct err err = { 0 };
	int fd = output_open(path, O_WRONLY | O_TRUNC, 0666, &err);

	if (fd >= 0) {
		close(fd);
		fd = 0;
	}
	assert_int_equal(fd, expected);
	assert_int_equal(err.code, expected);
}

static void creates_and_truncates_files(void **state)
{
	(void)state;
	expect_open("plain/new", 0);
	assert_int_equal(bytes_of("plain/new"), 0);
	expect_open("./plain/../victim", 0);
	assert_int_equal(bytes_of("victim"), 0);
	expect_open("nowhere/new", -ENOENT);
	expect_open("victim/new", -ENOTDIR);
	expect_open("plain", -EISDIR);
	expect_open("", -ENOENT);
	expect_open("/dev/null", 0);
	expect_open("/proc/self/fd/2", 0);
}

static void follows_links(void **state)
{
	char *target;

	(void)state;
	assert_int_equal(symlink("../plain", "shared/dir"), 0);
	assert_int_equal(symlink("dir/new", "shared/own"), 0);
	expect_open("shared/own", 0);
	assert_int_equal(bytes_of("plain/new"), 0);
	assert_int_equal(output_target("shared/own", &target, NULL), 0);
	assert_non_null(strstr(target, "/plain/new"));
	free(target);
	assert_int_equal(output_target("plain/new", &target, NULL), 0);
	assert_string_equal(target, "plain/new");
	free(target);
	assert_int_equal(output_target("/dev/stdout", &target, NULL), 0);
	assert_null(target);
	assert_int_equal(symlink("loop", "loop"), 0);
	expect_open("loop", -ELOOP);
}

static void refuses_links_of_others(void **state)
{
	char *target;

	(void)state;
	if (geteuid())
		skip();
	plant("../victim", "shared/out", OTHER_USER);
	plant("../made", "shared/loose", OTHER_USER);
	plant("..", "shared/dir", OTHER_USER);
	plant("../victim", "plain/out", OTHER_USER);
	expect_open("shared/out", -EPERM);
	expect_open("shared/loose", -EPERM);
	expect_open("shared/dir/victim", -EPERM);
	assert_int_equal(output_target("shared/out", &target, NULL), -EPERM);
	assert_int_equal(bytes_of("victim"), 6);
	assert_int_equal(bytes_of("made"), -1);
	/* The kernel also follows links like these. */
	plant("..", "plain/dir", OTHER_USER);
	assert_int_equal(output_target("plain/out", &target, NULL), -EPERM);
	expect_open("plain/out", -EPERM);
	expect_open("plain/dir/victim", -EPERM);
	assert_int_equal(bytes_of("victim"), 6);
}

static void refuses_files_of_others(void **state)
{
	char *target;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(io_write_file("shared/out", "text", 4, 0666), 0);
	assert_int_equal(chown("shared/out", OTHER_USER, OTHER_USER), 0);
	expect_open("shared/out", -EPERM);
	assert_int_equal(output_target("shared/out", &target, NULL), -EPERM);
	assert_int_equal(bytes_of("shared/out"), 4);
	/* The owner of a directory could read what is written into it. */
	assert_int_equal(io_write_file("plain/out", "text", 4, 0666), 0);
	assert_int_equal(chown("plain/out", OTHER_USER, OTHER_USER), 0);
	expect_open("plain/out", -EPERM);
	assert_int_equal(bytes_of("plain/out"), 4);
	assert_int_equal(mkfifo("shared/fifo", 0666), 0);
	assert_int_equal(chown("shared/fifo", OTHER_USER, OTHER_USER), 0);
	expect_open("shared/fifo", -EPERM);
	assert_int_equal(mkfifo("plain/fifo", 0666), 0);
	assert_int_equal(chown("plain/fifo", OTHER_USER, OTHER_USER), 0);
	expect_open("plain/fifo", -EPERM);
	assert_int_equal(output_target("plain/fifo", &target, NULL), -EPERM);
	assert_int_equal(link("victim", "shared/link"), 0);
	expect_open("shared/link", -EPERM);
	assert_int_equal(bytes_of("victim"), 6);
}

static void expect_dir(const char *path, mode_t mode, int expected)
{
	int fd = mode ? output_make_dir(path, mode, NULL) : output_open_dir(path, NULL);

	if (fd >= 0) {
		close(fd);
		fd = 0;
	}
	assert_int_equal(fd, expected);
}

static void opens_and_creates_directories(void **state)
{
	(void)state;
	expect_dir("plain", 0, 0);
	expect_dir("plain/", 0, 0);
	expect_dir("/", 0, 0);
	expect_dir("nowhere", 0, -ENOENT);
	expect_dir("victim", 0, -ENOTDIR);
	expect_dir("victim/below", 0755, -ENOTDIR);
	expect_dir("plain/a/b/", 0755, 0);
	expect_dir("plain/a/b", 0755, 0);
	assert_int_equal(symlink("plain/a", "own"), 0);
	expect_dir("own/c", 0755, 0);
	expect_dir("plain/a/c", 0, 0);
	if (geteuid())
		return;
	plant("a", "plain/link", OTHER_USER);
	expect_dir("plain/link", 0, -EPERM);
	expect_dir("plain/link/d", 0755, -EPERM);
	expect_dir("plain/a/d", 0, -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(creates_and_truncates_files,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(follows_links, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(opens_and_creates_directories,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(refuses_links_of_others, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(refuses_files_of_others, make_folder,
						drop_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
