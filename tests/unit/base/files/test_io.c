/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "base/files/io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "unit.h"

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/test_io-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int drop_folder(void **state)
{
	(void)state;
	return io_remove_tree(folder);
}

static void files_survive_a_round_trip(void **state)
{
	static char bytes[200000];
	struct buf b = { 0 };

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(io_write_file(in_folder("f"), bytes, sizeof(bytes), 0600), 0);
	assert_int_equal(io_read_file(in_folder("f"), &b, sizeof(bytes)), 0);
	assert_int_equal(b.len, sizeof(bytes));
	assert_memory_equal(b.data, bytes, sizeof(bytes));
	/* io_read_file() appends, and its limit is for the bytes of a single read. */
	assert_int_equal(io_read_file(in_folder("f"), &b, sizeof(bytes)), 0);
	assert_int_equal(b.len, 2 * sizeof(bytes));
	assert_int_equal(io_read_file(in_folder("f"), &b, sizeof(bytes) - 1), -EFBIG);
	buf_done(&b);
	/* No temporary file remains. */
	assert_int_equal(access(in_folder("f.part"), F_OK), -1);
}

static void locks_belong_to_their_owner(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	/* A file of an older version was readable by everyone. */
	assert_int_equal(io_write_file(in_folder("lock"), "1", 1, 0644), 0);
	for (int i = 0; i < 2; i++) {
		fd = io_open_lock(in_folder(i ? "new" : "lock"));
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		close(fd);
	}
	assert_int_equal(symlink("lock", in_folder("link")), 0);
	assert_int_equal(io_open_lock(in_folder("link")), -ELOOP);
}

static void mostly_sparse_files_are_recognized(void **state)
{
	static char bytes[4 << 20];
	int fd = io_open(in_folder("hollow"), O_RDWR | O_CREAT, 0600);
	uint32_t number = 1;

	(void)state;
	assert_true(fd >= 0);
	/* No file system compresses these bytes. */
	for (size_t i = 0; i < sizeof(bytes); i++) {
		number = number * 1664525 + 1013904223;
		bytes[i] = (char)(number >> 24);
	}
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_false(io_is_hollow(fd)); /* small */
	assert_int_equal(ftruncate(fd, 40 << 20), 0);
	assert_true(io_is_hollow(fd));
	assert_int_equal(io_write_all(fd, bytes, sizeof(bytes)), 0);
	assert_int_equal(fsync(fd), 0);
	assert_false(io_is_hollow(fd)); /* a tenth */
	close(fd);
}

/* "data" at the start, and at 40 MB of a terabyte. */
static int open_sparse(const char *name)
{
	int fd = io_open(in_folder(name), O_RDWR | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, "data", 4, 0), 4);
	assert_int_equal(pwrite(fd, "data", 4, 40 << 20), 4);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	return fd;
}

static void skips_holes(void **state)
{
	const uint64_t size = 1ULL << 40;
	int fd = open_sparse("sparse");
	uint64_t hole;

	(void)state;
	if (io_next_data(fd, 1 << 20, size) == 1 << 20) {
		close(fd);
		skip(); /* the file system does not support holes */
	}
	assert_int_equal(io_next_data(fd, 0, size), 0);
	assert_int_equal(io_next_data(fd, 1, size), 1);
	assert_int_equal(io_next_data(fd, 1 << 20, size), 40 << 20);
	assert_int_equal(io_next_data(fd, 1 << 20, 2 << 20), 2 << 20);
	assert_true(io_next_data(fd, 50 << 20, size) == size);
	assert_true(io_next_data(fd, size + 5, size) == size);
	hole = io_solid_bytes(fd, size);
	assert_true(hole >= 4 && hole < 1 << 20);
	close(fd);
}

static void copies_keep_holes(void **state)
{
	int fd = open_sparse("sparse");
	char bytes[4];
	struct stat st;

	(void)state;
	if (io_next_data(fd, 1 << 20, 2 << 20) == 1 << 20) {
		close(fd);
		skip();
	}
	assert_int_equal(io_copy(fd, in_folder("copy"), 1ULL << 40, NULL), 0);
	/* The copy would need more bytes than the file has. */
	assert_int_equal(io_copy(fd, in_folder("copy2"), (1ULL << 40) + 1, NULL), -EIO);
	assert_int_equal(stat(in_folder("copy2"), &st), -1);
	close(fd);
	fd = io_open(in_folder("copy"), O_RDONLY, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_size == (off_t)1 << 40);
	assert_true(st.st_blocks < 2048);
	assert_int_equal(pread(fd, bytes, 4, 40 << 20), 4);
	assert_memory_equal(bytes, "data", 4);
	assert_int_equal(pread(fd, bytes, 4, 0), 4);
	assert_memory_equal(bytes, "data", 4);
	assert_int_equal(pread(fd, bytes, 4, 20 << 20), 4);
	assert_memory_equal(bytes, "\0\0\0\0", 4);
	close(fd);
}

static void zeros_become_holes(void **state)
{
	static uint8_t zeros[1 << 20];
	int fd = io_open(in_folder("zeros"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	uint8_t bytes[8];
	struct stat st;

	(void)state;
	assert_int_equal(io_write_holes(fd, "abc", 3), 0);
	assert_int_equal(io_write_holes(fd, zeros, sizeof(zeros)), 0);
	assert_int_equal(io_write_holes(fd, "\0d", 2), 0);
	assert_int_equal(io_write_holes(fd, zeros, sizeof(zeros)), 0);
	assert_int_equal(io_write_holes(fd, "", 0), 0);
	assert_int_equal(io_end_holes(fd), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 5 + 2 * sizeof(zeros));
	assert_int_equal(pread(fd, bytes, 8, 0), 8);
	assert_memory_equal(bytes, "abc\0\0\0\0\0", 8);
	assert_int_equal(pread(fd, bytes, 3, 3 + sizeof(zeros)), 3);
	assert_memory_equal(bytes, "\0d\0", 3);
	close(fd);
}

static void reads_proc_files_completely(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(io_read_file("/proc/self/maps", &b, 1 << 20), 0);
	assert_true(b.len > 100);
	buf_done(&b);
}

static void reports_missing_files(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(io_open(in_folder("none"), O_RDONLY, 0), -ENOENT);
	assert_int_equal(io_read_file(in_folder("none"), &b, 10), -ENOENT);
	assert_int_equal(io_write_file(in_folder("no/file"), "", 0, 0600), -ENOENT);
	assert_int_equal(io_remove_tree(in_folder("none")), 0);
	assert_int_equal(io_make_dirs("", 0700), -ENOENT);
	assert_int_equal(io_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(io_pread_full(-1, &b, 1, 0), -EBADF);
	assert_int_equal(io_read_file(folder, &b, 10), -EISDIR);
	buf_done(&b);
}

static void children_inherit_no_descriptors(void **state)
{
	int fd = io_open("/dev/null", O_RDONLY, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void a_full_device_is_an_error(void **state)
{
	int fd = io_open("/dev/full", O_WRONLY, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}

static void pread_is_short_only_at_the_end(void **state)
{
	char bytes[8];
	int fd;

	(void)state;
	assert_int_equal(io_write_file(in_folder("p"), "0123456789", 10, 0600), 0);
	fd = io_open(in_folder("p"), O_RDONLY, 0);
	assert_int_equal(io_pread_full(fd, bytes, 8, 0), 8);
	assert_memory_equal(bytes, "01234567", 8);
	assert_int_equal(io_pread_full(fd, bytes, 8, 7), 3);
	assert_memory_equal(bytes, "789", 3);
	assert_int_equal(io_pread_full(fd, bytes, 8, 10), 0);
	close(fd);
}

static void *write_slowly(void *arg)
{
	int fd = *(int *)arg;

	for (const char *c = "abcdefghijklmnopqrstuvwxyz"; *c; c++)
		io_write_all(fd, c, 1);
	close(fd);
	return NULL;
}

/* A pipe returns what it has, here often one byte; all bytes arrive. */
static void one_byte_reads(void **state)
{
	struct buf b = { 0 };
	pthread_t writer;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_slowly, &fds[1]), 0);
	assert_int_equal(io_read_fd(fds[0], &b, 100), 0);
	pthread_join(writer, NULL);
	assert_int_equal(b.len, 26);
	assert_memory_equal(b.data, "abcdefghijklmnopqrstuvwxyz", 26);
	close(fds[0]);
	buf_done(&b);
}

static void creates_and_removes_trees(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(io_make_dirs(in_folder("a/b/c"), 0700), 0);
	assert_int_equal(io_make_dirs(in_folder("a/b/c"), 0700), 0);
	assert_int_equal(io_make_dirs(in_folder("a//b/d/"), 0700), 0);
	assert_int_equal(io_write_file(in_folder("a/b/f"), "x", 1, 0600), 0);
	assert_int_equal(io_write_file(in_folder("kept"), "x", 1, 0600), 0);
	assert_int_equal(symlink("../kept", in_folder("a/link")), 0);
	assert_int_equal(io_remove_tree(in_folder("a")), 0);
	assert_int_equal(stat(in_folder("a"), &st), -1);
	assert_int_equal(stat(in_folder("kept"), &st), 0);
	/* A file of that name exists. */
	assert_int_equal(io_make_dirs(in_folder("kept/x"), 0700), -ENOTDIR);
}

static void *write_late(void *arg)
{
	const int *fd = arg;

	usleep(20000);
	(void)!write(*fd, "defg", 4);
	return NULL;
}

static void a_peek_consumes_nothing(void **state)
{
	struct buf b = { 0 };
	char bytes[8] = "";
	pthread_t late;
	int ends[2];
	int fd;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	assert_int_equal(pthread_create(&late, NULL, write_late, &ends[1]), 0);
	assert_int_equal(io_peek(ends[0], bytes, 5), 5);
	assert_memory_equal(bytes, "abcde", 5);
	pthread_join(late, NULL);
	close(ends[1]);
	/* io_peek() returns fewer bytes than requested, as the writer has closed the pipe. */
	assert_int_equal(io_peek(ends[0], bytes, 8), 7);
	assert_int_equal(io_read_fd(ends[0], &b, 100), 0);
	assert_int_equal(b.len, 7);
	assert_memory_equal(b.data, "abcdefg", 7);
	assert_int_equal(io_peek(ends[0], bytes, 8), 0);
	close(ends[0]);
	buf_done(&b);
	assert_int_equal(io_write_file(in_folder("p"), "0123456789", 10, 0600), 0);
	fd = io_open(in_folder("p"), O_RDONLY, 0);
	assert_int_equal(lseek(fd, 4, SEEK_SET), 4);
	assert_int_equal(io_peek(fd, bytes, 3), 3);
	assert_memory_equal(bytes, "456", 3);
	assert_int_equal(io_peek(fd, bytes, 8), 6);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 4);
	close(fd);
	fd = io_open("/dev/null", O_RDONLY, 0);
	assert_int_equal(io_peek(fd, bytes, 8), -EINVAL);
	close(fd);
}

static mode_t mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_folder(name), &st), 0);
	return st.st_mode & 07777;
}

/* Others may read the copy only if they may read the original. */
static void a_copy_reveals_nothing_to_others(void **state)
{
	static const struct {
		mode_t mode, copied;
	} rows[] = { { 0600, 0600 }, { 0640, 0600 }, { 0755, 0644 }, { 0644, 0644 } };
	const atomic_bool stop = true;
	struct buf b = { 0 };
	int fd;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(
			io_write_file(in_folder("from"), "0123456789", 10, 0600), 0);
		assert_int_equal(chmod(in_folder("from"), rows[i].mode), 0);
		fd = io_open(in_folder("from"), O_RDONLY, 0);
		assert_true(fd >= 0);
		assert_int_equal(io_copy(fd, in_folder("copy"), 4, NULL), 0);
		assert_int_equal(mode_of("copy"), rows[i].copied);
		buf_clear(&b);
		assert_int_equal(io_read_file(in_folder("copy"), &b, 100), 0);
		assert_int_equal(b.len, 4);
		/* Copying more bytes than the file has fails and changes nothing. */
		assert_int_equal(io_copy(fd, in_folder("copy"), 11, NULL), -EIO);
		assert_int_equal(mode_of("copy"), rows[i].copied);
		/* A copy that is cancelled leaves no file. */
		assert_int_equal(io_copy(fd, in_folder("copy"), 10, &stop), -ECANCELED);
		assert_int_equal(io_copy(fd, in_folder("left"), 10, &stop), -ECANCELED);
		assert_int_equal(mode_of("copy"), rows[i].copied);
		assert_int_equal(access(in_folder("left"), F_OK), -1);
		assert_int_equal(access(in_folder("copy.part"), F_OK), -1);
		close(fd);
	}
	buf_done(&b);
}

static void handles_allocation_failure(void **state)
{
	struct buf b = { 0 };

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(io_make_dirs(in_folder("m"), 0700), -ENOMEM);
	assert_int_equal(io_write_file(in_folder("m"), "", 0, 0600), -ENOMEM);
	assert_int_equal(io_read_file("/dev/null", &b, 10), -ENOMEM);
	assert_true(alloc_fail_off());
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(files_survive_a_round_trip),
		cmocka_unit_test(locks_belong_to_their_owner),
		cmocka_unit_test(mostly_sparse_files_are_recognized),
		cmocka_unit_test(skips_holes),
		cmocka_unit_test(copies_keep_holes),
		cmocka_unit_test(zeros_become_holes),
		cmocka_unit_test(reads_proc_files_completely),
		cmocka_unit_test(reports_missing_files),
		cmocka_unit_test(children_inherit_no_descriptors),
		cmocka_unit_test(a_full_device_is_an_error),
		cmocka_unit_test(pread_is_short_only_at_the_end),
		cmocka_unit_test(one_byte_reads),
		cmocka_unit_test(a_peek_consumes_nothing),
		cmocka_unit_test(creates_and_removes_trees),
		cmocka_unit_test(a_copy_reveals_nothing_to_others),
		cmocka_unit_test(handles_allocation_failure),
	};

	return cmocka_run_group_tests(cases, make_folder, drop_folder);
}
