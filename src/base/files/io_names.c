/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_names.c - the functions of io.h that look up or change file names; base/files/guard.h
 * keeps them below guarded directories. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#include "base/files/guard.h"
#include "base/files/io.h"
#include "base/files/process_mounts.h"
#include "base/parse.h"

enum {
	MADE_UP = 6, /* "XXXXXX" */
	TRIES = 100
};

int io_open(const char *path, int flags, mode_t mode)
{
	struct guard_at at;
	int r = guard_at(path, &at);
	int fd;

	if (r)
		return r;
	if (at.is_guarded && (flags & O_ACCMODE) != O_RDONLY)
		flags |= O_NOFOLLOW;
	fd = openat(at.fd, at.name, flags | O_CLOEXEC, mode);
	if (fd < 0)
		fd = -errno;
	guard_at_end(&at);
	return fd;
}

#ifdef RESOLVE_NO_MAGICLINKS
static int io_open_plainly(int at, const char *name, int flags)
{
	struct open_how how = { .flags = (unsigned int)(flags | O_CLOEXEC),
				.resolve = RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* Returns whether the kernel (before 5.6) or a seccomp filter does not know openat2(2). */
static bool io_is_unknown(int r)
{
	return r == -ENOSYS || r == -EPERM;
}

static size_t io_leading(const char *text, const char *start)
{
	size_t len = strlen(start);

	return strncmp(text, start, len) ? 0 : len;
}

/* For a path such as /proc/self/fd/5/NAME, stores the descriptor (5) and returns the rest (NAME).
 * Returns NULL for other paths. */
static const char *io_below_own(const char *path, int *ret_fd)
{
	size_t at = io_leading(path, "/proc/self/fd/");
	size_t nr = at ? strspn(path + at, "0123456789") : 0;
	char digits[16] = { 0 };
	uint64_t fd;

	if (!nr || nr >= sizeof(digits) || path[at + nr] != '/')
		return NULL;
	memcpy(digits, path + at, nr);
	if (!parse_u64_max(digits, INT32_MAX, &fd))
		return NULL;
	*ret_fd = (int)fd;
	at += nr;
	return path + at + strspn(path + at, "/");
}

/* Returns whether the path is that of an open file of this process. */
static bool io_is_own_file(const char *path)
{
	size_t len = io_leading(path, "/proc/self/fd/");

	if (!len)
		len = io_leading(path, "/dev/fd/");
	if (!len)
		len = io_leading(path, "/dev/std");
	return (len && !strchr(path + len, '/')) || !strcmp(path, "/proc/self/exe");
}

/* If the path begins with a link to files of a process (/proc/PID/root, exe or map_files/RANGE),
 * stores the pid and returns the length of the link. Returns 0 for other paths. */
static size_t io_process_link(const char *path, int32_t *ret_pid)
{
	size_t at = io_leading(path, "/proc/");
	size_t nr = at ? strspn(path + at, "0123456789") : 0;
	char digits[16] = { 0 };
	uint64_t pid;
	size_t len;

	if (!nr || nr >= sizeof(digits))
		return 0;
	memcpy(digits, path + at, nr);
	if (!parse_u64_max(digits, INT32_MAX, &pid))
		return 0;
	*ret_pid = (int32_t)pid;
	at += nr;
	len = io_leading(path + at, "/root");
	if (!len)
		len = io_leading(path + at, "/exe");
	if (!len) {
		len = io_leading(path + at, "/map_files/");
		len += len ? strcspn(path + at + len, "/") : 0;
	}
	return len && (!path[at + len] || path[at + len] == '/') ? at + len : 0;
}

/* Opens a file through a link of a process (the first `link_len` bytes of the path). Refuses with
 * -ELOOP if the process's mounts could make the open wait forever. */
static int io_open_of_process(const char *path, size_t link_len, int32_t pid, int flags)
{
	char link[128];
	int at, fd;

	if (link_len >= sizeof(link))
		return -ENAMETOOLONG;
	memcpy(link, path, link_len);
	link[link_len] = '\0';
	if (!path[link_len])
		return process_mounts_may_follow(pid, link) ? io_open(path, flags, 0)
							    : -ELOOP;
	/* Open the directory before the check: a process that passes the check later had the same
	 * trusted mounts before. */
	at = io_open(link, O_PATH, 0);
	if (at < 0)
		return at;
	fd = process_mounts_may_search(pid)
		     ? io_open_plainly(at,
				       path + link_len + strspn(path + link_len, "/"),
				       flags)
		     : -ELOOP;
	close(at);
	return io_is_unknown(fd) ? io_open(path, flags, 0) : fd;
}
#endif

/* Opens a file that exists. Does not follow links into the files of another process, such as
 * /proc/PID/root: by such a link, or by a path in a binary, a user could lead us to a file system
 * that this user serves and that never answers. Links to our own descriptors are followed. */
static int io_open_found(const char *path, int flags)
{
#ifdef RESOLVE_NO_MAGICLINKS
	struct guard_at at;
	const char *name;
	int32_t pid;
	size_t link;
	int r, fd;

	if (io_is_own_file(path))
		return io_open(path, flags, 0);
	name = io_below_own(path, &fd);
	if (name) {
		fd = io_open_plainly(fd, name, flags);
		return io_is_unknown(fd) ? io_open(path, flags, 0) : fd;
	}
	link = io_process_link(path, &pid);
	if (link)
		return io_open_of_process(path, link, pid, flags);
	r = guard_at(path, &at);
	if (r)
		return r;
	fd = io_open_plainly(at.fd, at.name, flags);
	guard_at_end(&at);
	if (!io_is_unknown(fd))
		return fd;
#endif
	return io_open(path, flags, 0);
}

int io_stat(const char *path, struct stat *ret_st)
{
	int fd = io_open_found(path, O_PATH);
	int r = fd;

	if (fd >= 0) {
		r = fstat(fd, ret_st) ? -errno : 0;
		close(fd);
	}
	return r;
}

/* Returns 0 if reads of the open file return stored data and have no side effect; otherwise
 * IO_NOT_REGULAR or another negative errno. */
static int check_stored(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return IO_NOT_REGULAR;
	if (fstatfs(fd, &fs))
		return -errno;
	return fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
			       fs.f_type == DEBUGFS_MAGIC || fs.f_type == TRACEFS_MAGIC
		       ? IO_NOT_REGULAR
		       : 0;
}

int io_open_regular(const char *path, int flags)
{
	struct stat st;
	int fd, r;

	/* Check the type before opening the file, because opening some devices has a side effect
	 * (a tape rewinds). Check it again afterwards, because the path may have changed. */
	if (!io_stat(path, &st) && !S_ISREG(st.st_mode))
		return IO_NOT_REGULAR;
	fd = io_open_found(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return fd;
	r = check_stored(fd);
	if (!r)
		return fd;
	close(fd);
	return r;
}

int io_open_lock(const char *path)
{
	int fd = io_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return fd;
	/* Reject a file with several hard links: another user could have linked it here so that we
	 * change its mode. */
	if (fstat(fd, &st))
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = -EINVAL;
	else if (st.st_nlink > 1)
		r = -EMLINK;
	if (r) {
		close(fd);
		return r;
	}
	if (fchmod(fd, 0600)) {
		/* This fails if the file has another owner, who could lock it in any case. */
	}
	return fd;
}

static void make_up(char *letters)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char random[MADE_UP];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		memset(random, getpid(), sizeof(random));
	for (size_t i = 0; i < MADE_UP; i++)
		letters[i] = digits[random[i] % (sizeof(digits) - 1)];
}

int io_open_temp(char *template, size_t suffix_len, mode_t mode)
{
	char *letters = template + strlen(template) - suffix_len - MADE_UP;
	int fd = -EEXIST;

	for (int i = 0; i < TRIES && fd == -EEXIST; i++) {
		make_up(letters);
		fd = io_open(template, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	}
	return fd;
}

int io_make_temp_dir(int at, char *template)
{
	char *letters = template + strlen(template) - MADE_UP;
	int r = -EEXIST;

	for (int i = 0; i < TRIES && r == -EEXIST; i++) {
		make_up(letters);
		r = mkdirat(at, template, 0700) ? -errno : 0;
	}
	return r;
}

/* Calls a function that needs two paths. */
static int between(const char *from, const char *to,
		   int (*fn)(const struct guard_at *from, const struct guard_at *to))
{
	struct guard_at a, b;
	int r = guard_at(from, &a);

	if (r)
		return r;
	r = guard_at(to, &b);
	if (!r) {
		r = fn(&a, &b) ? -errno : 0;
		guard_at_end(&b);
	}
	guard_at_end(&a);
	return r;
}

static int call_rename(const struct guard_at *from, const struct guard_at *to)
{
	return renameat(from->fd, from->name, to->fd, to->name);
}

static int call_rename_new(const struct guard_at *from, const struct guard_at *to)
{
	return renameat2(from->fd, from->name, to->fd, to->name, RENAME_NOREPLACE);
}

static int call_rename_checked(const struct guard_at *from, const struct guard_at *to)
{
	if (!faccessat(to->fd, to->name, F_OK, AT_SYMLINK_NOFOLLOW)) {
		errno = EEXIST;
		return -1;
	}
	return call_rename(from, to);
}

static int call_link(const struct guard_at *from, const struct guard_at *to)
{
	return linkat(from->fd, from->name, to->fd, to->name, 0);
}

int io_rename(const char *from, const char *to)
{
	return between(from, to, call_rename);
}

int io_rename_new(const char *from, const char *to)
{
	int r = between(from, to, call_rename_new);

	/* Some file systems do not support RENAME_NOREPLACE. */
	return r == -EINVAL ? between(from, to, call_rename_checked) : r;
}

int io_link(const char *from, const char *to)
{
	return between(from, to, call_link);
}

static int remove_at(const char *path, int flags)
{
	struct guard_at at;
	int r = guard_at(path, &at);

	if (r)
		return r;
	r = unlinkat(at.fd, at.name, flags) ? -errno : 0;
	guard_at_end(&at);
	return r;
}

int io_unlink(const char *path)
{
	return remove_at(path, 0);
}

int io_rmdir(const char *path)
{
	return remove_at(path, AT_REMOVEDIR);
}

int io_own_group(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return -errno;
	/* Ignore errors: most directories have no such attributes. */
	(void)fremovexattr(fd, "system.posix_acl_default");
	(void)fremovexattr(fd, "system.posix_acl_access");
	if (fstat(fd, &st))
		r = -errno;
	else if (st.st_gid != getegid() && fchown(fd, (uid_t)-1, getegid()))
		st.st_mode &= S_IRWXU;
	if (!r && fchmod(fd, st.st_mode & RECORDING_DIR_MODE))
		r = -errno;
	close(fd);
	return r;
}

int io_mkdir(const char *path, mode_t mode)
{
	struct guard_at at;
	int r = guard_at(path, &at);

	if (r)
		return r;
	r = mkdirat(at.fd, at.name, mode) ? -errno : 0;
	if (!r && mode == RECORDING_DIR_MODE)
		r = io_own_group(at.fd, at.name);
	guard_at_end(&at);
	return r;
}

int io_make_dirs(const char *path, mode_t mode)
{
	size_t guarded = guard_length(path);
	char *copy;
	int r = 0;

	if (!*path)
		return -ENOENT;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	for (char *p = copy + (guarded ? guarded : 1); !r; p++) {
		char kept = *p;

		if (kept != '/' && kept != '\0')
			continue;
		*p = '\0';
		r = io_mkdir(copy, mode);
		if (r == -EEXIST)
			r = 0;
		*p = kept;
		if (!kept)
			break;
	}
	free(copy);
	return r;
}

int io_remove_tree(const char *path)
{
	struct guard_at at;
	int r = guard_at(path, &at);

	if (r)
		return r;
	r = io_remove_tree_at(at.fd, at.name);
	guard_at_end(&at);
	return r;
}

int io_set_times(const char *path, const struct timespec times[2])
{
	struct guard_at at;
	int r = guard_at(path, &at);

	if (r)
		return r;
	r = utimensat(at.fd, at.name, times, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
	guard_at_end(&at);
	return r;
}

int io_set_mode(const char *path, mode_t mode)
{
	int fd = io_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return fd;
	r = fchmod(fd, mode) ? -errno : 0;
	close(fd);
	return r;
}

int io_open_dir(const char *path, DIR **ret_dir)
{
	int fd = io_open(path, O_RDONLY | O_DIRECTORY, 0);
	int r;

	if (fd < 0)
		return fd;
	*ret_dir = fdopendir(fd);
	if (*ret_dir)
		return 0;
	r = -errno;
	close(fd);
	return r;
}
