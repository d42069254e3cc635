#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

bool trust_is_own(uid_t owner)
{
	return !owner || owner == geteuid();
}

int trust_check(int fd, enum trust trust, const char *shown, struct err *err)
{
	struct stat st;

	if (trust == TRUST_ANY)
		return 0;
	if (fstat(fd, &st))
		return err_sys(err, -errno, "%s", shown);
	if (!trust_is_own(st.st_uid))
		return err_set(
			err, -EPERM,
			"%s is not owned by you or root (use --force to read it)",
			shown);
	return 0;
}

static int check_dir(const struct stat *st, const char *shown, struct err *err)
{
	if (S_ISLNK(st->st_mode))
		return err_set(
			err, -ELOOP,
			"%s is a symbolic link, which may lead to files of others: "
			"remove it, or give another --session-dir",
			shown);
	if (!S_ISDIR(st->st_mode))
		return err_sys(err, -ENOTDIR, "%s", shown);
	if (!trust_is_own(st->st_uid))
		return err_set(
			err, -EPERM,
			"%s belongs to user %u, not to you or root: give another "
			"--session-dir",
			shown, st->st_uid);
	return 0;
}

int trust_open_dir(int at, const char *name, const char *shown, struct err *err)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return errno == ENOENT ? -ENOENT : err_sys(err, -errno, "%s", shown);
	r = fstat(fd, &st) ? err_sys(err, -errno, "%s", shown)
			   : check_dir(&st, shown, err);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

int trust_make_dir(int at, const char *name, mode_t mode, const char *shown,
		   struct err *err)
{
	int fd;

	if (mkdirat(at, name, mode) && errno != EEXIST)
		return err_sys(err, -errno, "cannot create %s", shown);
	fd = trust_open_dir(at, name, shown, err);
	return fd == -ENOENT ? err_sys(err, fd, "%s", shown) : fd;
}
