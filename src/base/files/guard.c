/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/files/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers/vec.h"
#include "base/files/trust.h"

struct guarded {
	char *path;        /* PARENT/NAME */
	size_t parent_len; /* length of PARENT */
	size_t len;
	int fd; /* the directory PARENT */
	unsigned int holders;
};

static struct {
	pthread_rwlock_t lock;
	VEC(struct guarded) dirs;
} guards = { .lock = PTHREAD_RWLOCK_INITIALIZER };

static bool is_below(const struct guarded *g, const char *path)
{
	return !strncmp(path, g->path, g->len) &&
	       (path[g->len] == '/' || path[g->len] == '\0');
}

/* Returns the innermost guard that contains the path, or NULL. Call with the lock held. */
static struct guarded *find_guard(const char *path)
{
	struct guarded *found = NULL;

	for (size_t i = 0; i < guards.dirs.nr; i++) {
		struct guarded *g = &guards.dirs.at[i];

		if (is_below(g, path) && (!found || g->len > found->len))
			found = g;
	}
	return found;
}

static size_t length_without_slashes(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

static struct guarded *find_same(const char *path)
{
	size_t len = length_without_slashes(path);

	for (size_t i = 0; i < guards.dirs.nr; i++)
		if (guards.dirs.at[i].len == len &&
		    !memcmp(guards.dirs.at[i].path, path, len))
			return &guards.dirs.at[i];
	return NULL;
}

static int guard_add_new(const char *path, size_t len, size_t parent_len, int fd)
{
	struct guarded g = { .path = strndup(path, len),
			     .parent_len = parent_len,
			     .len = len,
			     .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
			     .holders = 1 };
	int r = g.fd < 0 ? -errno : g.path ? 0 : -ENOMEM;

	if (!r && vec_push(&guards.dirs, g))
		return 0;
	free(g.path);
	if (g.fd >= 0)
		close(g.fd);
	return r ? r : -ENOMEM;
}

static int guard_insert(const char *path, size_t len, size_t parent_len, int fd)
{
	struct guarded *same;
	int r = 0;

	pthread_rwlock_wrlock(&guards.lock);
	same = find_same(path);
	if (same)
		same->holders++;
	else
		r = guard_add_new(path, len, parent_len, fd);
	pthread_rwlock_unlock(&guards.lock);
	return r;
}

static char *guard_path_in(const char *parent, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", parent, name) < 0 ? NULL : path;
}

int guard_add(const char *parent, const char *name, int fd)
{
	char *path = guard_path_in(parent, name);
	int r;

	if (!path)
		return -ENOMEM;
	r = guard_insert(path, strlen(path), strlen(parent), fd);
	free(path);
	return r;
}

int guard_add_all(const char *path, int fd)
{
	size_t len = length_without_slashes(path);

	return guard_insert(path, len, len, fd);
}

int guard_add_path(const char *path, int fd)
{
	const char *slash = strrchr(path, '/');

	return guard_insert(path, strlen(path), slash ? (size_t)(slash - path) : 0, fd);
}

void guard_drop_path(const char *path)
{
	struct guarded *g;

	pthread_rwlock_wrlock(&guards.lock);
	g = find_same(path);
	if (g && !--g->holders) {
		close(g->fd);
		free(g->path);
		*g = guards.dirs.at[--guards.dirs.nr];
		if (!guards.dirs.nr)
			vec_done(&guards.dirs);
	}
	pthread_rwlock_unlock(&guards.lock);
}

void guard_drop(const char *parent, const char *name)
{
	char *path = guard_path_in(parent, name);

	if (path)
		guard_drop_path(path);
	free(path);
}

/* Returns a file descriptor of the guard's PARENT, and stores the rest of the path, relative to
 * it. Returns -ENOENT if the path is not guarded, or another negative errno. */
static int open_guard(const char *path, const char **ret_rest)
{
	const struct guarded *g;
	int fd = -ENOENT;

	pthread_rwlock_rdlock(&guards.lock);
	g = find_guard(path);
	if (g) {
		*ret_rest = path + g->parent_len;
		fd = fcntl(g->fd, F_DUPFD_CLOEXEC, 0);
		if (fd < 0)
			fd = -errno;
	}
	pthread_rwlock_unlock(&guards.lock);
	return fd;
}

/* Opens the directory whose name is the first `len` bytes of `name`, in the directory `fd`, which
 * is then closed. Returns a descriptor or a negative errno. */
static int guard_enter(int fd, const char *name, size_t len)
{
	char component[NAME_MAX + 1];
	struct stat st;
	int next, r = 0;

	if (len > NAME_MAX) {
		close(fd);
		return -ENAMETOOLONG;
	}
	memcpy(component, name, len);
	component[len] = '\0';
	next = openat(fd, component, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (next < 0 || fstat(next, &st))
		r = -errno;
	else if (S_ISLNK(st.st_mode))
		r = -ELOOP;
	else if (!S_ISDIR(st.st_mode))
		r = -ENOTDIR;
	else if (!trust_is_own(st.st_uid))
		r = -EPERM;
	close(fd);
	if (r && next >= 0)
		close(next);
	return r ? r : next;
}

static bool is_dots(const char *name, size_t len)
{
	return len == 2 && !strncmp(name, "..", 2);
}

static int walk(int fd, const char *rest, struct guard_at *ret_at)
{
	for (;;) {
		size_t len;

		rest += strspn(rest, "/");
		len = strcspn(rest, "/");
		if (is_dots(rest, len)) {
			close(fd);
			return -EINVAL;
		}
		if (!rest[len])
			break;
		fd = guard_enter(fd, rest, len);
		if (fd < 0)
			return fd;
		rest += len;
	}
	*ret_at = (struct guard_at){ .fd = fd,
				     .name = *rest ? rest : ".",
				     .is_guarded = true };
	return 0;
}

int guard_at(const char *path, struct guard_at *ret_at)
{
	const char *rest;
	int fd = open_guard(path, &rest);

	if (fd == -ENOENT) {
		*ret_at = (struct guard_at){ .fd = AT_FDCWD, .name = path };
		return 0;
	}
	return fd < 0 ? fd : walk(fd, rest, ret_at);
}

void guard_at_end(struct guard_at *at)
{
	int saved = errno;

	if (at->is_guarded)
		close(at->fd);
	errno = saved;
}

size_t guard_length(const char *path)
{
	const struct guarded *g;
	size_t len;

	pthread_rwlock_rdlock(&guards.lock);
	g = find_guard(path);
	len = g ? g->len : 0;
	pthread_rwlock_unlock(&guards.lock);
	return len;
}
