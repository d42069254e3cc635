/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/trust.h"

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
static int at = -1;

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_trust-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return at < 0 ? -1 : 0;
}

static int drop_folder(void **state)
{
	(void)state;
	close(at);
	return io_remove_tree(folder);
}

static void opens_its_own_directory(void **state)
{
	struct err err = { 0 };
	int fd;

	(void)state;
	assert_int_equal(trust_open_dir(at, "own", "shown/own", &err), -ENOENT);
	assert_int_equal(err.code, 0);
	fd = trust_make_dir(at, "own", 0755, "shown/own", &err);
	assert_true(fd >= 0);
	/* Actions through the descriptor stay in this directory, whatever has its name
	 * meanwhile. */
	assert_int_equal(mkdirat(fd, "inner", 0755), 0);
	assert_int_equal(renameat(at, "own", at, "moved"), 0);
	assert_int_equal(mkdirat(at, "own", 0755), 0);
	assert_int_equal(io_remove_tree_at(fd, "inner"), 0);
	assert_int_equal(faccessat(at, "moved/inner", F_OK, 0), -1);
	close(fd);
	fd = trust_make_dir(at, "own", 0755, "shown/own", &err);
	assert_true(fd >= 0);
	close(fd);
}

static void refuses_links(void **state)
{
	struct err err = { 0 };

	(void)state;
	assert_int_equal(mkdirat(at, "target", 0755), 0);
	assert_int_equal(symlinkat("target", at, "link"), 0);
	assert_int_equal(symlinkat("nowhere", at, "loose"), 0);
	assert_int_equal(trust_open_dir(at, "link", "shown/link", &err), -ELOOP);
	assert_non_null(strstr(err.text, "shown/link is a symbolic link"));
	assert_int_equal(trust_make_dir(at, "link", 0755, "shown/link", &err), -ELOOP);
	assert_int_equal(trust_make_dir(at, "loose", 0755, "shown/loose", &err),
			 -ELOOP);
	assert_int_equal(faccessat(at, "nowhere", F_OK, 0), -1);
}

static void refuses_files(void **state)
{
	struct err err = { 0 };
	int fd = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(trust_open_dir(at, "file", "shown/file", &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "shown/file"));
}

static void refuses_directories_of_others(void **state)
{
	struct err err = { 0 };
	int fd;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(mkdirat(at, "other", 0777), 0);
	assert_int_equal(fchownat(at, "other", OTHER_USER, OTHER_USER, 0), 0);
	assert_int_equal(trust_open_dir(at, "other", "shown/other", &err), -EPERM);
	assert_non_null(strstr(err.text, "shown/other belongs to user 65534"));
	/* That user owns the directory, and root's files are trusted as well. */
	assert_int_equal(mkdirat(at, "roots", 0755), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(seteuid(OTHER_USER), 0);
	fd = trust_open_dir(at, "other", "shown/other", &err);
	assert_true(fd >= 0);
	close(fd);
	fd = trust_open_dir(at, "roots", "shown/roots", &err);
	assert_int_equal(seteuid(0), 0);
	assert_true(fd >= 0);
	close(fd);
}

static int check_file(enum trust trust, struct err *err)
{
	int fd = openat(at, "file", O_RDONLY | O_CLOEXEC);
	int r;

	assert_true(fd >= 0);
	*err = (struct err){ 0 };
	r = trust_check(fd, trust, "shown/file", err);
	close(fd);
	return r;
}

static void recordings_of_others_need_force(void **state)
{
	struct err err;
	int fd = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(check_file(TRUST_OWN, &err), 0);
	if (geteuid())
		skip();
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(seteuid(OTHER_USER), 0);
	assert_int_equal(check_file(TRUST_OWN, &err), 0); /* root's */
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(fchownat(at, "file", OTHER_USER, OTHER_USER, 0), 0);
	assert_int_equal(check_file(TRUST_OWN, &err), -EPERM);
	assert_string_equal(err.text, "shown/file is not owned by you or root "
				      "(use --force to read it)");
	assert_int_equal(check_file(TRUST_ANY, &err), 0);
	assert_int_equal(seteuid(OTHER_USER), 0);
	assert_int_equal(check_file(TRUST_OWN, &err), 0);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(fchownat(at, "file", OTHER_USER - 1, 0, 0), 0);
	assert_int_equal(seteuid(OTHER_USER), 0);
	assert_int_equal(check_file(TRUST_OWN, &err), -EPERM);
	assert_int_equal(seteuid(0), 0);
}

static void trees_are_removed_without_following_links(void **state)
{
	(void)state;
	assert_int_equal(mkdirat(at, "kept", 0755), 0);
	assert_int_equal(mkdirat(at, "kept/inner", 0755), 0);
	assert_int_equal(mkdirat(at, "tree", 0755), 0);
	assert_int_equal(mkdirat(at, "tree/deep", 0755), 0);
	assert_int_equal(symlinkat("../../kept", at, "tree/deep/link"), 0);
	assert_int_equal(io_remove_tree_at(at, "tree"), 0);
	assert_int_equal(faccessat(at, "tree", F_OK, 0), -1);
	assert_int_equal(faccessat(at, "kept/inner", F_OK, 0), 0);
	assert_int_equal(io_remove_tree_at(at, "none"), 0);
}

static bool is_original(const char *path)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
	bool is;

	assert_true(fd >= 0);
	is = trust_is_original(fd, path);
	close(fd);
	return is;
}

static void recognizes_original_files(void **state)
{
	char path[128];

	(void)state;
	assert_int_equal(mkdirat(at, "images", 0755), 0);
	snprintf(path, sizeof(path), "%s/program", folder);
	assert_true(is_original(path));
	assert_int_equal(chmod(path, 0620), 0);
	assert_false(is_original(path));
	snprintf(path, sizeof(path), "%s/images/0123", folder);
	assert_false(is_original(path));
	assert_int_equal(chdir(folder), 0);
	assert_true(is_original("other"));
	assert_int_equal(chdir("/"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_its_own_directory, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(refuses_links, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(refuses_files, make_folder,
						drop_folder),
		cmocka_unit_test_setup_teardown(refuses_directories_of_others,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(recordings_of_others_need_force,
						make_folder, drop_folder),
		cmocka_unit_test_setup_teardown(
			trees_are_removed_without_following_links, make_folder,
			drop_folder),
		cmocka_unit_test_setup_teardown(recognizes_original_files, make_folder,
						drop_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
