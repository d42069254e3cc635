/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files/trust.h"

enum {
	LINKS_MAX = 40
};

/* Resolves a path component by component, so that each link is checked through its own
 * descriptor. */
struct chase {
	const char *path; /* as given */
	int dir;          /* the current directory */
	char *rest;       /* the rest of the path, malloc'd */
	char name[NAME_MAX + 1];
	int links;
	bool is_dir;       /* the path must be a directory */
	mode_t make_mode;  /* mode for missing directories; 0: do not create them */
	bool last_is_link; /* the last component was a link */
	/* the last component is a magic link of /proc to an open file, which only the kernel can
	 * follow */
	bool last_is_magic;
	bool last_is_fifo; /* the resolved name is a FIFO that may be used */
	struct err err;    /* the reason if the path was refused; code 0: not refused */
};

static bool output_is_shared(const struct stat *dir)
{
	return dir->st_mode & S_ISVTX && dir->st_mode & S_IWOTH;
}

static int output_refuse(struct chase *c, const char *what, uid_t owner)
{
	return err_set(
		&c->err, -EPERM,
		"cannot write '%s': it is %s user %u in a directory that every user can write to: give another name",
		c->path, what, owner);
}

static int use_dir(struct chase *c, int dir)
{
	if (c->dir >= 0)
		close(c->dir);
	c->dir = dir;
	return dir < 0 ? -errno : 0;
}

static int chase_from(struct chase *c, bool from_root)
{
	return use_dir(c,
		       open(from_root ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Moves the next component from `rest` to `name`. Returns false if none is left. */
static bool next_name(struct chase *c, bool *ret_is_last)
{
	const char *at = c->rest + strspn(c->rest, "/");
	size_t len = strcspn(at, "/");

	if (!len || len > NAME_MAX)
		return false;
	memcpy(c->name, at, len);
	c->name[len] = '\0';
	at += len;
	*ret_is_last = !at[strspn(at, "/")];
	memmove(c->rest, at, strlen(at) + 1);
	return true;
}

/* Refuses a link of another user, because the owner of a link chooses where we write. */
static int check_link(struct chase *c, const struct stat *link)
{
	if (trust_is_own(link->st_uid))
		return 0;
	return err_set(
		&c->err, -EPERM,
		"cannot write '%s': the path contains a symbolic link of user %u: give a path without it",
		c->path, link->st_uid);
}

static bool is_in_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Inserts the target of the symbolic link, open as `link`, before the rest of the path. */
static int follow(struct chase *c, int link)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target));
	char *rest;

	if (len < 0)
		return -errno;
	if (len == (ssize_t)sizeof(target))
		return -ENAMETOOLONG;
	if (++c->links > LINKS_MAX)
		return -ELOOP;
	if (asprintf(&rest, "%.*s%s", (int)len, target, c->rest) < 0)
		return -ENOMEM;
	free(c->rest);
	c->rest = rest;
	return *rest == '/' ? chase_from(c, true) : 0;
}

static int enter_proc(const struct chase *c)
{
	const int flags = O_PATH | O_DIRECTORY;

	return openat(c->dir, c->name, flags | O_CLOEXEC);
}

/* Processes one component of the path, which is open as `fd`; takes ownership of `fd`. Returns 1
 * if it was the last one, 0, or a negative errno. */
static int step_into(struct chase *c, int fd, bool is_last)
{
	struct stat st;
	int r = fstat(fd, &st) ? -errno : 0;

	if (!r && S_ISLNK(st.st_mode)) {
		r = check_link(c, &st);
		if (!r && is_in_proc(fd)) {
			c->last_is_magic = is_last;
			r = is_last ? 1 : use_dir(c, enter_proc(c));
		} else if (!r) {
			c->last_is_link |= is_last;
			r = follow(c, fd);
		}
		close(fd);
		return r;
	}
	if (!r && !is_last && !S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	if (!r && !is_last)
		return use_dir(c, fd);
	close(fd);
	return r ? r : 1;
}

static int open_name(const struct chase *c)
{
	const int flags = O_PATH | O_NOFOLLOW;
	int fd = openat(c->dir, c->name, flags | O_CLOEXEC);

	if (fd >= 0 || errno != ENOENT || !c->make_mode)
		return fd;
	if (mkdirat(c->dir, c->name, c->make_mode) && errno != EEXIST)
		return -1;
	return openat(c->dir, c->name, flags | O_CLOEXEC);
}

static int output_step(struct chase *c)
{
	bool is_last;
	int fd;

	if (!next_name(c, &is_last)) {
		snprintf(c->name, sizeof(c->name), ".");
		return 1;
	}
	is_last &= !c->is_dir;
	fd = open_name(c);
	if (fd >= 0)
		return step_into(c, fd, is_last);
	return errno == ENOENT && is_last ? 1 : -errno;
}

/* Resolves the path to the directory and the name of the file. Call chase_end() in any case. */
static int chase_path(struct chase *c)
{
	int r;

	c->rest = strdup(c->path);
	r = c->rest ? chase_from(c, *c->path == '/') : -ENOMEM;
	if (!r && !*c->path)
		r = -ENOENT;
	while (!r)
		r = output_step(c);
	return r < 0 ? r : 0;
}

static void chase_end(struct chase *c)
{
	if (c->dir >= 0)
		close(c->dir);
	free(c->rest);
}

/* Refuses a FIFO of another user, who would read the output, or never read it. Refuses a file in a
 * sticky directory that every user can write to, if another user made it or if it has several hard
 * links. */
static int check_stat(struct chase *c, const struct stat *st)
{
	struct stat dir;

	if (S_ISFIFO(st->st_mode) && !trust_is_own(st->st_uid))
		return err_set(
			&c->err, -EPERM,
			"cannot write '%s': it is a FIFO of user %u: give another name",
			c->path, st->st_uid);
	if (fstat(c->dir, &dir))
		return -errno;
	if (!output_is_shared(&dir) || S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		return 0;
	if (!trust_is_own(st->st_uid) && st->st_uid != dir.st_uid)
		return output_refuse(c, "a file of", st->st_uid);
	return S_ISREG(st->st_mode) && st->st_nlink > 1
		       ? output_refuse(c, "a file with several hard links, of",
				       st->st_uid)
		       : 0;
}

/* Checks the file that was opened. Refuses a file of another user, who could read the output. */
static int output_check_file(struct chase *c, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISREG(st.st_mode) && !trust_is_own(st.st_uid))
		return err_set(&c->err, -EPERM,
			       "%s is a file of user %u: remove it first", c->path,
			       st.st_uid);
	return check_stat(c, &st);
}

/* Checks the name before it is opened, because opening a FIFO of another user would block. */
static int output_check_name(struct chase *c)
{
	struct stat st;

	if (c->last_is_magic || fstatat(c->dir, c->name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	c->last_is_fifo = S_ISFIFO(st.st_mode);
	return check_stat(c, &st);
}

/* Opens the resolved name. Another user can replace it by a FIFO at any time, so waits only for the
 * reader of a FIFO that was checked. */
static int open_checked(const struct chase *c, int flags, mode_t mode)
{
	const bool waits = c->last_is_magic || c->last_is_fifo;
	int fd = openat(c->dir, c->name, O_CLOEXEC | flags | (waits ? 0 : O_NONBLOCK),
			mode);
	int set = fd < 0 || waits ? 0 : fcntl(fd, F_GETFL);

	if (fd < 0)
		return -errno;
	if (!waits && (set < 0 || fcntl(fd, F_SETFL, set & ~O_NONBLOCK))) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* Opens the file, and truncates it only after its owner was checked. Returns a descriptor or a
 * negative errno. */
static int open_at(struct chase *c, int flags, mode_t mode)
{
	int follow = c->last_is_magic ? 0 : O_NOFOLLOW;
	int as = (flags & ~O_TRUNC) | O_CREAT | follow;
	int fd = open_checked(c, as, mode);
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	r = c->last_is_magic ? 0 : output_check_file(c, fd);
	if (!r && flags & O_TRUNC && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	    ftruncate(fd, 0))
		r = -errno;
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

int output_open(const char *path, int flags, mode_t mode, struct err *err)
{
	struct chase c = { .path = path, .dir = -1 };
	int fd = chase_path(&c);

	if (!fd)
		fd = output_check_name(&c);
	if (!fd)
		fd = open_at(&c, flags, mode);
	chase_end(&c);
	if (fd >= 0)
		return fd;
	return c.err.code ? err_set(err, fd, "%s", c.err.text)
			  : err_sys(err, fd, "cannot write '%s'", path);
}

mode_t output_mode(bool is_private)
{
	return is_private ? 0600 : 0666;
}

mode_t output_dir_mode(bool is_private)
{
	return is_private ? 0700 : 0777;
}

int output_open_stream(const char *path, FILE **ret_stream, struct err *err)
{
	int fd = output_open(path, O_WRONLY | O_TRUNC, output_mode(false), err);

	if (fd < 0)
		return fd;
	*ret_stream = fdopen(fd, "we");
	if (*ret_stream)
		return 0;
	close(fd);
	return err_set(err, -ENOMEM, "out of memory");
}

/* Stores the path of the resolved file: the directory's path as the kernel reports it, and the
 * name. */
static int name_found(const struct chase *c, char **ret_path)
{
	char link[64], dir[PATH_MAX];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", c->dir);
	len = readlink(link, dir, sizeof(dir));
	if (len < 0 || len == (ssize_t)sizeof(dir))
		return len < 0 ? -errno : -ENAMETOOLONG;
	return asprintf(ret_path, "%.*s/%s", (int)len, dir, c->name) < 0 ? -ENOMEM : 0;
}

int output_target(const char *path, char **ret_target, struct err *err)
{
	struct chase c = { .path = path, .dir = -1 };
	int r = chase_path(&c);

	*ret_target = NULL;
	if (!r)
		r = output_check_name(&c);
	if (!r && !c.last_is_magic) {
		if (c.last_is_link)
			r = name_found(&c, ret_target);
		else if (!(*ret_target = strdup(path)))
			r = -ENOMEM;
	}
	chase_end(&c);
	if (!r)
		return 0;
	return c.err.code ? err_set(err, r, "%s", c.err.text)
			  : err_sys(err, r, "cannot write '%s'", path);
}

static int output_open_chased(struct chase *c, struct err *err)
{
	int r, dir;

	r = chase_path(c);
	dir = c->dir;
	if (!r)
		c->dir = -1;
	chase_end(c);
	if (!r)
		return dir;
	return c->err.code ? err_set(err, r, "%s", c->err.text)
			   : err_sys(err, r,
				     c->make_mode ? "cannot create '%s'"
						  : "cannot open '%s'",
				     c->path);
}

int output_open_dir(const char *path, struct err *err)
{
	struct chase c = { .path = path, .dir = -1, .is_dir = true };

	return output_open_chased(&c, err);
}

int output_make_dir(const char *path, mode_t mode, struct err *err)
{
	struct chase c = { .path = path, .dir = -1, .is_dir = true, .make_mode = mode };

	return output_open_chased(&c, err);
}

int output_failure(FILE *stream)
{
	int fd = fileno(stream);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    !(S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fd))))
		return -EIO;
	return write(fd, "\n", 1) < 0 ? -errno : -EIO;
}
