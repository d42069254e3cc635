/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/keep/copy_rule.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/io.h"
#include "base/files/public_file.h"

/* Returns whether only user `uid` (or root) can choose which binary is at the path: checks the
 * owner of the file and of its directories. */
static bool is_owner(const char *binary, uid_t uid)
{
	struct stat st;

	return binary && !io_stat(binary, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == uid && public_file_path_is_of(binary, uid);
}

/* Returns whether the file of root is protected only by a private directory that also contains
 * root's program `binary`. */
static bool is_roots_own(int fd, const struct stat *st, const char *path,
			 const char *binary)
{
	return !geteuid() && st->st_mode & S_IROTH && is_owner(binary, 0) &&
	       public_file_same_private(fd, path, binary);
}

bool copy_rule_allows(int fd, const char *path, const char *binary)
{
	struct stat st;

	if (public_file(fd, path))
		return true;
	if (fstat(fd, &st))
		return false;
	if (!st.st_uid)
		return is_roots_own(fd, &st, path, binary);
	return st.st_uid == geteuid() || is_owner(binary, st.st_uid);
}

bool copy_rule_is_private(const char *path)
{
	int fd = io_open_regular(path, 0);
	bool is_public = fd >= 0 && public_file(fd, path);

	if (fd >= 0)
		close(fd);
	return !is_public;
}
