/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/public_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/faults.h"
#include "base/files/io.h"
#include "base/files/tree.h"

/* Called for each directory above a file, from the innermost outwards. Returns false to stop. */
typedef bool (*climb_fn)(void *ctx, const struct stat *dir);

static bool public_file_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns a descriptor of the directory that contains the file, for openat(2). Returns -1 if it
 * cannot be opened, or if the file there is not `fd` (-1: any). */
static int public_file_open_parent(const char *path, int fd)
{
	char *real = realpath(path, NULL);
	char *slash = real ? strrchr(real, '/') : NULL;
	struct stat file, found;
	int dir = -1;

	if (slash) {
		*slash = '\0';
		dir = io_open(slash > real ? real : "/", O_PATH | O_DIRECTORY, 0);
	}
	if (dir >= 0 && fd >= 0 &&
	    (fstat(fd, &file) || fstatat(dir, slash + 1, &found, AT_SYMLINK_NOFOLLOW) ||
	     !public_file_is_same(&file, &found))) {
		close(dir);
		dir = -1;
	}
	free(real);
	return dir;
}

/* Calls `fn` for each directory above the file. Opens ".." each time, so that these are really its
 * directories, even if another process renames them meanwhile. Returns false if not all
 * directories were visited. */
static bool climb(const char *path, int fd, climb_fn fn, void *ctx)
{
	int dir = public_file_open_parent(path, fd);
	struct stat st, above;
	bool at_root = false;
	int up;

	if (dir < 0 || fstat(dir, &st)) {
		if (dir >= 0)
			close(dir);
		return false;
	}
	while (fn(ctx, &st)) {
		up = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0 && errno != EACCES)
			(void)fault_unreadable(path, -errno);
		close(dir);
		dir = up;
		if (dir < 0 || fstat(dir, &above))
			break;
		at_root = public_file_is_same(&st, &above);
		if (at_root)
			break;
		st = above;
	}
	if (dir >= 0)
		close(dir);
	return at_root;
}

static bool is_searchable(void *ctx, const struct stat *dir)
{
	(void)ctx;
	return dir->st_mode & S_IXOTH;
}

bool public_file(int fd, const char *path)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_mode & S_IROTH &&
	       climb(path, fd, is_searchable, NULL);
}

static int check_public(void *ctx, const struct tree_entry *entry)
{
	mode_t needed = S_ISDIR(entry->st.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;

	(void)ctx;
	return S_ISLNK(entry->st.st_mode) || (entry->st.st_mode & needed) == needed
		       ? 0
		       : -EACCES;
}

static bool public_file_check_recording(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return true;
	if (!public_file(fd, path))
		return false;
	return S_ISREG(st.st_mode) ||
	       (st.st_mode & S_IXOTH && !tree_walk(path, check_public, NULL, NULL));
}

bool public_file_recording(const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	/* Use O_PATH, because opening a FIFO would wait for a writer. */
	int fd = is_stdin ? STDIN_FILENO : io_open(path, O_PATH, 0);
	bool is_public = fd >= 0 && public_file_check_recording(
					    fd, is_stdin ? "/dev/stdin" : path);

	if (fd >= 0 && !is_stdin)
		close(fd);
	return is_public;
}

/* ---- private directories ---- */

struct outermost {
	bool any;
	struct stat dir;
};

static bool note_private(void *ctx, const struct stat *dir)
{
	struct outermost *o = ctx;

	if (!(dir->st_mode & S_IXOTH)) {
		o->any = true;
		o->dir = *dir;
	}
	return true;
}

struct public_file_search {
	const struct stat *dir;
	bool found;
};

static bool note_found(void *ctx, const struct stat *dir)
{
	struct public_file_search *s = ctx;

	s->found |= public_file_is_same(s->dir, dir);
	return true;
}

bool public_file_same_private(int fd, const char *path, const char *other)
{
	struct outermost outermost = { 0 };
	struct public_file_search search = { .dir = &outermost.dir };

	return climb(path, fd, note_private, &outermost) && outermost.any &&
	       climb(other, -1, note_found, &search) && search.found;
}

/* ---- owners of paths ---- */

static bool is_of(void *ctx, const struct stat *st)
{
	const uid_t *uid = ctx;

	return (!st->st_uid || st->st_uid == *uid) &&
	       (!S_ISDIR(st->st_mode) || !(st->st_mode & S_IWOTH) ||
		st->st_mode & S_ISVTX);
}

bool public_file_path_is_of(const char *path, uid_t uid)
{
	char prefix[PATH_MAX];
	size_t len = strlen(path);
	struct stat st;

	if (len >= sizeof(prefix))
		return false;
	memcpy(prefix, path, len + 1);
	/* Check the directories as they are spelled, which can be links, and then those that the
	 * path really leads through. */
	for (size_t i = 1; i < len; i++) {
		if (path[i] != '/')
			continue;
		prefix[i] = '\0';
		if (lstat(prefix, &st) || !is_of(&uid, &st))
			return false;
		prefix[i] = '/';
	}
	return !lstat(path, &st) && is_of(&uid, &st) && climb(path, -1, is_of, &uid);
}
