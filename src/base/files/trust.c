/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/io.h"
#include "base/files/public_file.h"
#include "base/log.h"

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
		return err_sys(err, -errno, "cannot stat '%s'", shown);
	if (!trust_is_own(st.st_uid))
		return err_set(
			err, -EPERM,
			"%s is not owned by you or root (use --force to read it)",
			shown);
	return 0;
}

/* ---- files that others can change ---- */

static bool is_exclusive(const struct stat *st)
{
	return trust_is_own(st->st_uid) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

bool trust_is_exclusive(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && is_exclusive(&st);
}

bool trust_is_original(int fd, const char *path)
{
	static const char copies[] = "/images/";
	const char *slash = strrchr(path, '/');
	size_t len = sizeof(copies) - 1;
	bool is_copy = slash && (size_t)(slash + 1 - path) >= len &&
		       !strncmp(slash + 1 - len, copies, len);

	return !is_copy && trust_is_exclusive(fd);
}

int trust_check_config(int fd, const char *shown, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(err, -errno, "cannot stat '%s'", shown);
	if (is_exclusive(&st))
		return 0;
	return trust_is_own(st.st_uid)
		       ? err_set(err, -EPERM,
				 "%s is not read, because other users can write to it: run: chmod go-w %s",
				 shown, shown)
		       : err_set(err, -EPERM,
				 "%s is not read, because it belongs to user %u, not to you or root",
				 shown, st.st_uid);
}

/* Returns whether only the caller and root can create a missing directory: checks the innermost
 * directory above it that exists. */
static bool is_safe_to_make(const char *path)
{
	char *above = strdup(path);
	struct stat st;
	char *slash;
	bool is_safe = true;

	while (above && (slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if (!stat(above, &st)) {
			/* Refuse also a sticky directory, in which another user can create the
			 * missing one first. */
			is_safe = !(st.st_mode & S_IWOTH) &&
				  public_file_path_is_of(above, geteuid());
			break;
		}
	}
	free(above);
	return is_safe;
}

bool trust_cache_dir(const char *path)
{
	struct stat st;
	bool is_safe;

	if (!stat(path, &st))
		is_safe = is_exclusive(&st) && public_file_path_is_of(path, geteuid());
	else
		/* Other errors are reported when the directory is opened. */
		is_safe = errno != ENOENT || is_safe_to_make(path);
	if (!is_safe)
		log_say_once(
			LOG_WARNING,
			"not using the cache directory '%s', because other users can change it or a parent directory: remove their write permission (chmod go-w)",
			path);
	return is_safe;
}

bool trust_cache_file(int fd, const char *path)
{
	if (trust_is_exclusive(fd))
		return true;
	log_say_once(
		LOG_WARNING,
		"ignoring the cache file '%s', because other users can change it: delete it, or remove their write permission (chmod go-w)",
		path);
	return false;
}

/* ---- directories that are modified ---- */

static int trust_check_dir(const struct stat *st, const char *shown, struct err *err)
{
	if (S_ISLNK(st->st_mode))
		return err_set(
			err, -ELOOP,
			"%s is a symbolic link, which can point to files of other users: remove it, or use another --session-dir",
			shown);
	if (!S_ISDIR(st->st_mode))
		return err_sys(err, -ENOTDIR, "cannot use '%s'", shown);
	if (!trust_is_own(st->st_uid))
		return err_set(
			err, -EPERM,
			"%s belongs to user %u, not to you or root: give another --session-dir",
			shown, st->st_uid);
	return 0;
}

int trust_open_dir(int at, const char *name, const char *shown, struct err *err)
{
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return errno == ENOENT
			       ? -ENOENT
			       : err_sys(err, -errno, "cannot open '%s'", shown);
	r = fstat(fd, &st) ? err_sys(err, -errno, "cannot stat '%s'", shown)
			   : trust_check_dir(&st, shown, err);
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

	bool is_new = !mkdirat(at, name, mode);
	int r;

	if (!is_new && errno != EEXIST)
		return err_sys(err, -errno, "cannot create '%s'", shown);
	r = is_new && mode == RECORDING_DIR_MODE ? io_own_group(at, name) : 0;
	if (r)
		return err_sys(err, r, "cannot create '%s'", shown);
	fd = trust_open_dir(at, name, shown, err);
	return fd == -ENOENT ? err_sys(err, fd, "cannot open '%s'", shown) : fd;
}
