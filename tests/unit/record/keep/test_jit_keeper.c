#include "record/keep/jit_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/io.h"
#include "decode/record.h"
#include "record/keep/copy_list.h"
#include "record/keep/lasting_mounts.h"

#include "unit.h"

enum {
	PID = 4242
};

/* What the copy has now. */
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
	char dir[] = "/tmp/jit-keeper-XXXXXX";
	struct timespec later[2] = { 0 };
	char path[64];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/map", dir);
	fd = io_open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "one", 3, 0), 3);
	assert_int_equal(jit_keeper_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "one");
	assert_int_equal(pwrite(fd, "one, two", 8, 0), 8);
	assert_int_equal(jit_keeper_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "one, two");
	/* Written anew, and shorter. */
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, "three", 5, 0), 5);
	later[0].tv_sec = later[1].tv_sec = 4000000000;
	assert_int_equal(futimens(fd, later), 0);
	assert_int_equal(jit_keeper_copy(fd, dir, PID, "perf.map"), 0);
	assert_string_equal(copied(dir), "three");
	/* A gigabyte that takes no room. */
	assert_int_equal(ftruncate(fd, 1 << 30), 0);
	assert_int_equal(jit_keeper_copy(fd, dir, PID, "perf.map"), -EFBIG);
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

static void a_mount_is_kept_busy_until_the_process_has_ended(void **state)
{
	const struct lasting_mounts none = { 0 };
	struct jit_keeper k = { .mounts = &none };
	struct copy_list copies = { 0 };
	char dir[] = "/tmp/jit-keeper-XXXXXX";
	char path[64];
	struct record_mmap m = { .path = path, .pid = getpid() };
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, PID);
	fd = io_open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(pwrite(fd, "dump", 4, 0), 4);
	close(fd);
	jit_keeper_mapped(&k, &m);
	assert_int_equal(k.kept.nr, 1);
	for (int i = 0; i < 3; i++)
		jit_keeper_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 0);
	k.kept.at[0].pid = ended_process();
	jit_keeper_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 0);
	jit_keeper_save_gone(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 1);
	assert_int_equal(k.kept.at[0].fd, -1);
	/* Once. */
	jit_keeper_save(&k, dir, &copies);
	assert_int_equal(copies.jobs.nr, 1);
	copy_list_done(&copies);
	jit_keeper_done(&k);
	assert_int_equal(io_remove_tree(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mount_is_kept_busy_until_the_process_has_ended),
		cmocka_unit_test(copies_grow_with_their_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
