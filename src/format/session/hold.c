/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/hold.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files/io.h"

int session_hold(const char *dir)
{
	int fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return -1;
	/* The shared lock can only be refused while session_is_held() in another process briefly
	 * has an exclusive lock. */
	if (!flock(fd, LOCK_SH))
		return fd;
	close(fd);
	return -1;
}

bool session_is_held(const char *dir)
{
	int fd = io_open(dir, O_RDONLY | O_DIRECTORY, 0);
	bool held;

	if (fd < 0)
		return false;
	held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return held;
}
