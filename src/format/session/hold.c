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
	/* The lock is refused only while another process checks for it. */
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
