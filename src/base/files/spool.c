/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files/io.h"

static const char *spool_dir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

int spool_open(const char **ret_dir)
{
	const char *dir = spool_dir();
	char *path = NULL;
	int fd;

	*ret_dir = dir;
	if (asprintf(&path, "%s/oprofile-XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = io_open_temp(path, 0, 0600);
	if (fd < 0)
		fd = -errno;
	else
		(void)io_unlink(path);
	free(path);
	return fd;
}
