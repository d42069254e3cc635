/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guard.h - directories that another user could replace with a link, held open.
 * Layer: base.  Whoever owns a directory above a session can rename the session and put a link in its place.
 * So the functions of io.h that take a path go from the held descriptor if the path lies below a guarded
 * directory: one component after the other, through no link, and only through directories of the caller or root.
 * All functions can be called from any thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Guards `name` in the directory `parent`, which is open as `fd` (O_PATH is enough; it is duplicated): from
 * now on paths that begin with "PARENT/NAME" are resolved from `fd`.  Calls count: each needs its guard_drop().
 * 0 or a negative errno. */
int guard_add(const char *parent, const char *name, int fd);
/* The same for all that is below `path`, which is open as `fd`. */
int guard_add_all(const char *path, int fd);
/* The same of a whole path; `fd` is its parent directory. */
int guard_add_path(const char *path, int fd);
void guard_drop(const char *parent, const char *name);
void guard_drop_path(const char *path);

/* A path to give to openat(2) and its kind. */
struct guard_at {
	int fd;           /* AT_FDCWD if nothing guards the path */
	const char *name; /* the last component then, else the whole path; borrowed */
	bool is_guarded;
};

/* 0, or a negative errno and nothing to end: -ELOOP or -ENOTDIR of a component that is not a directory, -EPERM
 * of a directory of another user, -EINVAL of "..". */
int guard_at(const char *path, struct guard_at *ret_at);
void guard_at_end(struct guard_at *at);
/* The length of the directory that guards `path`, with its name; 0: none. */
size_t guard_length(const char *path);
