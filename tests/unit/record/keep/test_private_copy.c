/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests unnamed copies: their bytes, their time, and what is refused. */
#include "record/keep/private_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/io.h"

#include "base/async_call.h"
#include "unit.h"

/* Creates a file with the text, and the directory for the copy. */
static int begin(char *dir, const char *text, mode_t mode, struct stat *ret_st)
{
	const struct timespec times[2] = { { .tv_sec = 5 },
					   { .tv_sec = 77, .tv_nsec = 88 } };
	char path[64];
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	fd = io_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(fstat(fd, ret_st), 0);
	assert_int_equal(unlink(path), 0);
	return fd;
}

static void end(const char *dir)
{
	/* The directory stays empty, as copies have no name. */
	assert_int_equal(rmdir(dir), 0);
}

static void copies_files(void **state)
{
	char dir[] = "/tmp/private-copy-XXXXXX";
	char bytes[16] = { 0 };
	struct stat st, copied;
	int fd = begin(dir, "a binary", 0755, &st);
	int copy = private_copy_take(fd, &st, ASYNC_CALL_OWN, dir);

	(void)state;
	assert_true(copy >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(fstat(copy, &copied), 0);
	assert_int_equal(copied.st_size, st.st_size);
	assert_int_equal(copied.st_mtim.tv_sec, 77);
	assert_int_equal(copied.st_mtim.tv_nsec, 88);
	assert_int_equal(copied.st_mode & 0777, 0644);
	assert_int_equal(io_pread_full(copy, bytes, sizeof(bytes), 0), 8);
	assert_string_equal(bytes, "a binary");
	close(copy);
	end(dir);
}

static void copies_are_not_more_readable_than_originals(void **state)
{
	char dir[] = "/tmp/private-copy-XXXXXX";
	struct stat st;
	int fd = begin(dir, "a binary", 0700, &st);
	int copy = private_copy_take(fd, &st, ASYNC_CALL_OWN, dir);

	(void)state;
	assert_int_equal(fstat(copy, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(copy);
	end(dir);
}

static void refuses_other_files(void **state)
{
	char dir[] = "/tmp/private-copy-XXXXXX";
	struct stat st;
	int fd = begin(dir, "a binary", 0600, &st);
	int again = dup(fd);

	(void)state;
	/* The file was written to since it was examined. */
	assert_int_equal(futimens(fd, NULL), 0);
	assert_int_equal(private_copy_take(fd, &st, ASYNC_CALL_OWN, dir), -ESTALE);
	/* A file that is too large is refused, and so is one that is only a hole. */
	assert_int_equal(ftruncate(again, (off_t)PRIVATE_COPY_MAX_BYTES + 1), 0);
	assert_int_equal(fstat(again, &st), 0);
	assert_int_equal(private_copy_take(dup(again), &st, ASYNC_CALL_OWN, dir),
			 -EFBIG);
	assert_int_equal(ftruncate(again, PRIVATE_COPY_MAX_BYTES / 2), 0);
	assert_int_equal(fstat(again, &st), 0);
	assert_int_equal(private_copy_take(again, &st, ASYNC_CALL_OWN, dir), -EFBIG);
	assert_int_equal(fcntl(again, F_GETFD), -1);
	end(dir);
	/* A missing directory is an error. */
	fd = io_open("/proc/self/exe", O_RDONLY, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(private_copy_take(fd, &st, ASYNC_CALL_OWN, dir), -ENOENT);
}

static void copies_only_so_many_bytes_for_a_user(void **state)
{
	char dir[] = "/tmp/private-copy-XXXXXX";
	struct stat st;
	int fd = begin(dir, "a binary", 0600, &st), copy;

	(void)state;
	for (uint64_t user = 1000; user < 1002; user++)
		for (int i = 0; i < 3; i++) {
			struct stat large = st;

			large.st_size = 200 << 20;
			copy = private_copy_take(dup(fd), &large, user, dir);
			assert_true((copy == -EDQUOT) == (i == 2));
			if (copy >= 0)
				close(copy);
		}
	/* The files of root and the caller are copied. */
	copy = private_copy_take(fd, &st, ASYNC_CALL_OWN, dir);
	assert_true(copy >= 0);
	close(copy);
	end(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_files),
		cmocka_unit_test(copies_are_not_more_readable_than_originals),
		cmocka_unit_test(refuses_other_files),
		cmocka_unit_test(copies_only_so_many_bytes_for_a_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
