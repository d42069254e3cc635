/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/jit_store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/io.h"
#include "decode/record.h"
#include "record/keep/copy_list.h"
#include "record/keep/lasting_mounts.h"
#include "resolve/jit/files.h"

#include "unit.h"

enum {
	PID = 4242
};

/* Returns the content of the copy. */
static const char *copied(const char *dir)
{
	static struct buf text;
	char path[128];

	buf_clear(&text);
	snprintf(path, sizeof(path), "%s/jit/%d/perf.map", dir, PID);
	assert_int_equal(io_read_file(path, &text, 1000), 0);
	buf_put_u8(&text, 0);
	return (const char *)text.data;
}

static void copies_grow_with_their_files(void **state)
{
	char dir[] = "/tmp/jit-store-XXXXXX";
	struct timespec later[2] = { 0 };
	char path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/map", dir);
	fd = io_open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "one", 3, 0), 3);
	assert_int_equal(jit_store_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "one");
	assert_int_equal(pwrite(fd, "one, two", 8, 0), 8);
	assert_int_equal(jit_store_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "one, two");
	/* The file is overwritten with less data. */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "three", 5, 0), 5);
	later[0].tv_sec = later[1].tv_sec = 4000000000;
	assert_int_equal(futimens(fd, later), 0);
	assert_int_equal(jit_store_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "three");
	/* The file grows to a gigabyte that uses no space. */
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_int_equal(jit_store_copy(fd, dir, PID, "perf.map"), -EFBIG);
	assert_string_equal(copied(dir), "three");
	close(fd);
	assert_int_equal(io_remove_tree(dir), 0);
}

static int32_t ended_process(void)
{
	int32_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void holds_a_mount_until_the_process_ends(void **state)
{
	const struct lasting_mounts none = { 0 };
	struct jit_store k = { .mounts = &none };
	struct copy_list copies = { 0 };
	char dir[] = "/tmp/jit-store-XXXXXX";
	char path[64];
	struct record_mmap m = { .path = path, .pid = getpid() };
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, PID);
	fd = io_open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(pwrite(fd, "dump", 4, 0), 4);
	close(fd);
	jit_store_mapped(&k, &m);
	assert_int_equal(k.kept.nr, 1);
	for (int i = 0; i < 3; i++)
		jit_store_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 0);
	k.kept.at[0].pid = ended_process();
	jit_store_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 0);
	jit_store_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 1);
	assert_int_equal(k.kept.at[0].fd, -1);
	/* A second call does not copy the file again. */
	jit_store_save(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 1);
	copy_list_done(&copies);
	jit_store_done(&k);
	assert_int_equal(io_remove_tree(dir), 0);
}

/* Starts a process of another user that waits to be ended. */
static int32_t other_process(uid_t uid)
{
	int32_t pid = fork();

	if (!pid) {
		if (setuid(uid))
			_exit(1);
		for (;;)
			pause();
	}
	return pid;
}

/* Makes `pid` map `number` dumps, which are links to one file. */
static void map_dumps(struct jit_store *k, const char *dir, int32_t pid, uid_t uid,
		      int number)
{
	char path[64], file[64];
	struct record_mmap m = { .path = path, .pid = pid };
	int fd;

	snprintf(file, sizeof(file), "%s/of-%u", dir, uid);
	fd = io_open(file, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fchown(fd, uid, (gid_t)-1), 0);
	close(fd);
	for (int i = 0; i < number; i++) {
		snprintf(path, sizeof(path), "%s/jit-%d%06d.dump", dir, uid ? 2 : 1, i);
		assert_int_equal(link(file, path), 0);
		jit_store_mapped(k, &m);
	}
}

static size_t nr_kept_of(const struct jit_store *k, int32_t pid)
{
	size_t nr = 0;

	for (size_t i = 0; i < k->kept.nr; i++)
		nr += k->kept.at[i].pid == pid;
	return nr;
}

static void dumps_of_one_user_leave_space_for_others(void **state)
{
	char dir[] = "/tmp/jit-store-XXXXXX";
	struct jit_store k = { 0 };
	struct rlimit limit;
	int32_t other;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (geteuid() || limit.rlim_cur < 2000)
		skip();
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	other = other_process(65534);
	while (jit_uid(other) != 65534)
		usleep(1000);
	map_dumps(&k, dir, other, 65534, 1100);
	assert_int_equal(nr_kept_of(&k, other), 1024);
	map_dumps(&k, dir, getpid(), 0, 10);
	assert_int_equal(k.kept.nr, 1024);
	assert_int_equal(nr_kept_of(&k, getpid()), 10);
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
	jit_store_done(&k);
	assert_int_equal(io_remove_tree(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_a_mount_until_the_process_ends),
		cmocka_unit_test(copies_grow_with_their_files),
		cmocka_unit_test(dumps_of_one_user_leave_space_for_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
