/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guard.h - holds directories open that another user could replace with a link.
 * Layer: base.  The owner of a directory above a session can rename the session and put a link
 * in its place. So if a path is below a guarded directory, the functions of io.h start from the
 * held descriptor, proceed one component at a time, follow no links, and only enter directories
 * of the caller or root. Thread safe. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Guards `name` in the directory `parent`, which is open as `fd` (O_PATH is enough; it is
 * duplicated). From now on paths that begin with "PARENT/NAME" are resolved from `fd`. Calls for
 * the same path are counted: each needs a guard_drop(). Returns 0 or a negative errno. */
int guard_add(const char *parent, const char *name, int fd);
/* Like guard_add(), for everything below `path`, which is open as `fd`. */
int guard_add_all(const char *path, int fd);
/* Like guard_add(), for PARENT/NAME in one string; `fd` is PARENT. */
int guard_add_path(const char *path, int fd);
void guard_drop(const char *parent, const char *name);
void guard_drop_path(const char *path);

/* A resolved path, as arguments for openat(2) and similar calls. */
struct guard_at {
	int fd; /* AT_FDCWD if the path is not guarded */
	/* the last component if it is guarded, else the whole path; borrowed */
	const char *name;
	bool is_guarded;
};

/* Resolves a path; call guard_at_end() afterwards. Returns 0, or a negative errno (then
 * guard_at_end() is not needed): -ELOOP or -ENOTDIR for a component that is not a directory,
 * -EPERM for a directory of another user, -EINVAL for "..". */
int guard_at(const char *path, struct guard_at *ret_at);
void guard_at_end(struct guard_at *at);
/* Returns the length of "PARENT/NAME" of the guarded directory that contains `path`, or 0 if the
 * path is not guarded. */
size_t guard_length(const char *path);
