/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which user's budget is charged for a binary's unwind table. */
#include "record/helper/table_account.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/files/io.h"

#include "unit.h"

static void subordinate_ids_belong_to_their_users(void **state)
{
	static const char text[] = "alice:100000:65536\n"
				   "nonsense\n"
				   "bob:x:65536\n"
				   "bob:165536:65536\n"
				   "1000:300000:10\n"
				   "alice:400000:1\n";
	char path[] = "/tmp/table_account.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	uint64_t alice, bob;
	uid_t uid = 7;

	(void)state;
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
	alice = table_account_of_user(100000, path);
	bob = table_account_of_user(165536, path);
	assert_true(alice != bob);
	assert_true(alice > UINT32_MAX && bob > UINT32_MAX);
	assert_true(alice != TABLE_ACCOUNT_SYSTEM);
	assert_int_equal(table_account_of_user(165535, path), alice);
	assert_int_equal(table_account_of_user(400000, path), alice);
	assert_int_equal(table_account_of_user(231071, path), bob);
	assert_false(table_account_uid(bob, &uid));
	/* A subordinate id range of a user given by id. */
	assert_int_equal(table_account_of_user(300009, path), 1000);
	/* These ids belong to no user, so they have accounts of their own. */
	assert_int_equal(table_account_of_user(99999, path), 99999);
	assert_int_equal(table_account_of_user(400001, path), 400001);
	assert_true(table_account_uid(400001, &uid));
	assert_int_equal(uid, 400001);
	unlink(path);
	assert_int_equal(table_account_of_user(100000, path), 100000);
}

static void files_belong_to_their_owners(void **state)
{
	char path[] = "/tmp/table_account.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);
	struct statvfs fs;

	(void)state;
	unlink(path);
	if (geteuid() || fstatvfs(fd, &fs) || fs.f_flag & ST_NOSUID ||
	    fchown(fd, 65534, -1)) {
		close(fd);
		skip();
	}
	assert_int_equal(table_account_of_file(fd), 65534);
	assert_int_equal(fchown(fd, 0, -1), 0);
	assert_true(table_account_of_file(fd) == TABLE_ACCOUNT_SYSTEM);
	close(fd);
	assert_int_equal(table_account_of_file(fd), (uid_t)-1);
}

/* On a mount that ignores set-user-ID bits, root's files do not count as system files. */
static void does_not_trust_owners_on_some_mounts(void **state)
{
	char path[] = "/tmp/table_account.XXXXXX";
	char file[sizeof(path) + 2];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(path));
	/* The mount ends with the process of this case. */
	if (geteuid() || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", MS_NOSUID, NULL)) {
		rmdir(path);
		skip();
	}
	snprintf(file, sizeof(file), "%s/f", path);
	fd = io_open(file, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(table_account_of_file(fd), 0);
	close(fd);
	assert_int_equal(umount(path), 0);
	rmdir(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(subordinate_ids_belong_to_their_users),
		cmocka_unit_test(files_belong_to_their_owners),
		cmocka_unit_test(does_not_trust_owners_on_some_mounts),
	};

	return UNIT_RUN(tests);
}
