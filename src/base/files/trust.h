/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trust.h - which files and directories of other users are used, and which are not.
 * Layer: base.  The checks are made on a descriptor: the work done through it stays in the file or
 * directory that was checked, even if its path changes meanwhile. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Whose recordings are read. */
enum trust {
	TRUST_OWN, /* those that belong to the caller or to root */
	TRUST_ANY, /* --force: those of any user */
};

/* Whether a file of this owner is the caller's or root's. */
bool trust_is_own(uid_t owner);
/* Checks a recording that is open as `fd` (O_PATH is enough), a file or a directory; `shown` is its path in
 * messages.  Parsers expect damage, but not an attacker: perf refuses such files likewise.
 * 0, -EPERM if it belongs to another user, or another negative errno. */
int trust_check(int fd, enum trust trust, const char *shown, struct err *err);

/* Whether only the caller and root can change an open file, or what an open directory has: it belongs to one of
 * them, and neither its group nor others may write. */
bool trust_is_exclusive(int fd);
/* Whether also only they chose what is in an open file, to which `path` led: the recorder, as root, may have copied
 * another user's binary to SESSION/images/NAME. */
bool trust_is_original(int fd, const char *path);
/* Checks a configuration file that is open as `fd`; `shown` is its path in messages.
 * 0, -EPERM if others can change it, or another negative errno. */
int trust_check_config(int fd, const char *shown, struct err *err);
/* Whether a cache directory is to be used, also if it does not exist yet: only the caller and root can change it,
 * or put another in its place.  If not, a warning names it once, and it is to be treated as missing. */
bool trust_cache_dir(const char *path);
/* The same of a file in it that is open as `fd`. */
bool trust_cache_file(int fd, const char *path);

/* Opens the directory `name` in the directory `at` (AT_FDCWD: the current one) for changes in it.  It must
 * not be a symbolic link, and must belong to the caller or to root; `shown` is its path in messages.  Returns a
 * descriptor for openat(2) and its kind (O_PATH: it cannot be read).  -ENOENT without a text if it does not
 * exist; else, with one, -ELOOP of a link, -ENOTDIR, -EPERM of another owner, or another negative errno. */
int trust_open_dir(int at, const char *name, const char *shown, struct err *err);
/* The same, and it is made with `mode` if missing. */
int trust_make_dir(int at, const char *name, mode_t mode, const char *shown,
		   struct err *err);
