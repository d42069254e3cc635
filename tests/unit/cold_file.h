/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cold_file.h - files that are not in the page cache. */
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/direct.h"
#include "base/files/io.h"
#include "unit.h"

/* Drops a file from the page cache. Returns false if this is not possible, as for files in
 * memory. */
static inline bool cool(int fd, size_t len)
{
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
	return direct_is_worth(fd, 0, len);
}

/* Creates an unnamed file with these bytes in the current directory. Skips the test if files
 * cannot be dropped from the cache. */
static inline int cold_file(const void *bytes, size_t len)
{
	char path[] = "cold-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
	if (!cool(fd, len)) {
		print_message("the file system keeps what it has in memory\n");
		close(fd);
		skip();
	}
	return fd;
}
