/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trust.h - decides whether files and directories that other users control may be used.
 * Layer: base. The checks use a file descriptor. Later operations through it affect the file or
 * directory that was checked, even if its path changes meanwhile. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct err;

/* Which recordings are read. */
enum trust {
	TRUST_OWN, /* the caller's and root's */
	TRUST_ANY, /* --force: any user's */
};

/* Returns true if a file with this owner belongs to the caller or root. */
bool trust_is_own(uid_t owner);
/* Checks a recording that is open as `fd` (O_PATH is enough), a file or a directory. `shown` is
 * its path in messages. Parsers tolerate damage but are not meant for attackers; perf also
 * refuses such files. Returns 0, -EPERM if it belongs to another user, or another negative
 * errno. */
int trust_check(int fd, enum trust trust, const char *shown, struct err *err);

/* Returns true if only the caller and root can change an open file, or the entries of an open
 * directory: it belongs to one of them, and neither its group nor others can write to it. */
bool trust_is_exclusive(int fd);
/* Returns whether only the caller and root can have chosen the contents of the open file at
 * `path`. This can be false for a file of root: the recorder copies binaries of other users to
 * SESSION/images/NAME. */
bool trust_is_original(int fd, const char *path);
/* Checks a configuration file that is open as `fd`. `shown` is its path in messages. Returns 0,
 * -EPERM if others can change it, or another negative errno. */
int trust_check_config(int fd, const char *shown, struct err *err);
/* Returns true if a cache directory can be used, even if it does not exist yet: only the caller
 * and root can change or replace it. Otherwise warns once; treat the directory as missing. */
bool trust_cache_dir(const char *path);
/* Like trust_cache_dir(), for an existing file of the cache, which is open as `fd`. */
bool trust_cache_file(int fd, const char *path);

/* Opens the directory `name` in the directory `at` (AT_FDCWD: the current one) to modify its
 * contents. It must not be a symbolic link, and must belong to the caller or root. `shown` is
 * its path in messages. Returns a file descriptor for the *at() functions (O_PATH: it cannot be
 * read). Returns -ENOENT without a message if it does not exist; otherwise -ELOOP for a link,
 * -ENOTDIR, -EPERM for another owner, or another negative errno, with a message. */
int trust_open_dir(int at, const char *name, const char *shown, struct err *err);
/* Like trust_open_dir(), but creates it with `mode` if it is missing. */
int trust_make_dir(int at, const char *name, mode_t mode, const char *shown,
		   struct err *err);
