/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests which files are written to the disk, and how often, with an fsync(2) that records its
 * calls. */
#include "daemon/upkeep/disk_sync.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "unit.h"

enum {
	NOTES_MAX = 32
};

static struct {
	pthread_mutex_t lock;
	ino_t inodes[NOTES_MAX];
	size_t nr;
} notes = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Replaces the function of the C library and records its calls. */
int fsync(int fd)
{
	struct stat st;

	pthread_mutex_lock(&notes.lock);
	if (!fstat(fd, &st) && notes.nr < NOTES_MAX)
		notes.inodes[notes.nr++] = st.st_ino;
	pthread_mutex_unlock(&notes.lock);
	return 0;
}

static size_t times_of(const char *path)
{
	struct stat st;
	size_t nr = 0;

	assert_int_equal(stat(path, &st), 0);
	for (size_t i = 0; i < notes.nr; i++)
		nr += notes.inodes[i] == st.st_ino;
	return nr;
}

static char dir[64];
static char one[128], two[128], link_to[128], other[128];

static int set_up(void **state)
{
	(void)state;
	notes.nr = 0;
	snprintf(dir, sizeof(dir), "/tmp/sync-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(one, sizeof(one), "%s/in/one", dir);
	snprintf(two, sizeof(two), "%s/in/two", dir);
	snprintf(link_to, sizeof(link_to), "%s/in/link", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	*strrchr(one, '/') = 0;
	if (mkdir(one, 0755))
		return -1;
	one[strlen(dir) + 3] = '/';
	return io_write_file(one, "1", 1, 0644) || io_write_file(two, "2", 1, 0644) ||
	       io_write_file(other, "3", 1, 0644) || symlink(other, link_to);
}

static int tear_down(void **state)
{
	(void)state;
	return io_remove_tree(dir);
}

static void flushes_a_single_file(void **state)
{
	struct disk_sync s = { 0 };

	(void)state;
	disk_sync_add(&s, one, false);
	disk_sync_add(&s, one, false);
	assert_int_equal(notes.nr, 0);
	disk_sync_done(&s);
	assert_int_equal(notes.nr, 1);
	assert_int_equal(times_of(one), 1);
	/* The file is not flushed a second time. */
	disk_sync_poll(&s);
	disk_sync_done(&s);
	assert_int_equal(notes.nr, 1);
}

static void flushes_a_new_file_with_its_directory(void **state)
{
	struct disk_sync s = { 0 };
	char folder[80], below[96];
	struct timespec times[2] = { 0 };

	(void)state;
	snprintf(folder, sizeof(folder), "%s/in", dir);
	snprintf(below, sizeof(below), "%s/in/images", dir);
	assert_int_equal(mkdir(below, 0755), 0);
	snprintf(below, sizeof(below), "%s/in/images/copy", dir);
	assert_int_equal(io_write_file(below, "4", 1, 0644), 0);
	disk_sync_add(&s, one, false);
	disk_sync_add(&s, one, true);
	disk_sync_done(&s);
	assert_true(times_of(one) > 0 && times_of(two) > 0);
	assert_int_equal(times_of(other), 1);
	assert_int_equal(times_of(folder), 1);
	assert_int_equal(times_of(below), 1);
	/* `dir` is also written, because it contains the name of the new directory. */
	assert_int_equal(times_of(dir), 1);
	/* Files that have not changed for long are on the disk. */
	notes.nr = 0;
	times[1].tv_sec = 1000;
	assert_int_equal(utimensat(AT_FDCWD, two, times, 0), 0);
	disk_sync_add(&s, one, true);
	disk_sync_done(&s);
	assert_true(times_of(one) > 0 && times_of(two) == 0 && times_of(below) == 1);
}

static void later_requests_are_flushed_next(void **state)
{
	struct disk_sync s = { 0 };

	(void)state;
	pthread_mutex_lock(&notes.lock); /* the disk is slow */
	disk_sync_add(&s, one, false);
	disk_sync_poll(&s);
	disk_sync_add(&s, two, false);
	disk_sync_poll(&s);
	assert_int_equal(s.asked.files.nr, 1);
	pthread_mutex_unlock(&notes.lock);
	for (unsigned int i = 0; s.asked.files.nr && i < 2000; i++) {
		usleep(10000);
		disk_sync_poll(&s);
	}
	assert_int_equal(s.asked.files.nr, 0);
	disk_sync_done(&s);
	assert_true(times_of(one) == 1 && times_of(two) == 1);
}

static void ignores_removed_files(void **state)
{
	struct disk_sync s = { 0 };
	char gone[80];

	(void)state;
	snprintf(gone, sizeof(gone), "%s/gone/file", dir);
	disk_sync_add(&s, gone, true);
	disk_sync_add(&s, "file", true);
	disk_sync_add(&s, one, false);
	disk_sync_done(&s);
	assert_int_equal(times_of(one), 1);
	assert_false(s.runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(flushes_a_single_file, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(flushes_a_new_file_with_its_directory,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(later_requests_are_flushed_next, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(ignores_removed_files, set_up,
						tear_down),
	};

	return UNIT_RUN(tests);
}
