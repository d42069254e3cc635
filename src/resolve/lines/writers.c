/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/writers.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/io.h"
#include "resolve/lines/index.h"

enum {
	NAP_NS = 1000000,
	NAPS_MAX = 2000
};

static struct flock lock_of(const struct index_key *key, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
	uint32_t position;

	if (key) {
		memcpy(&position, key->bytes, sizeof(position));
		lock.l_start = position;
		lock.l_len = 1;
	}
	return lock;
}

int line_writers_open(const char *dir)
{
	return io_open(dir, O_RDONLY | O_DIRECTORY, 0);
}

void line_writers_add(int fd, const struct index_key *key)
{
	struct flock lock = lock_of(key, F_RDLCK);

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

static bool is_being_written(int fd, const struct index_key *key)
{
	struct flock lock = lock_of(key, F_WRLCK);

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

bool line_writers_wait(const char *dir, const struct index_key *key)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int fd = line_writers_open(dir);
	bool waited = false;

	if (fd < 0)
		return false;
	for (int i = 0; i < NAPS_MAX && is_being_written(fd, key); i++) {
		waited = true;
		(void)nanosleep(&nap, NULL);
	}
	close(fd);
	return waited;
}
