/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - visits every file below a directory, and reports what cannot be read.
 * Layer: base. */
#pragma once
#include <dirent.h>
#include <sys/stat.h>

struct err;

struct tree_entry {
	const char *path;  /* borrowed, valid during the callback */
	const char *below; /* `path` relative to the top of the walk */
	const char *name;  /* last component of `path` */
	struct stat st;    /* attributes of the entry itself: links are not followed */
};

enum {
	TREE_SKIP = 1
};

/* Called for each entry. Returns 0, TREE_SKIP (does not enter this directory), or a negative errno
 * with a message in the caller's struct err, which stops the walk. */
typedef int (*tree_fn)(void *ctx, const struct tree_entry *entry);

/* Calls `fn` for each name in the directory `dir`, except "." and "..", until it returns
 * nonzero, and returns that value. Treats a missing directory as empty. Reports a directory
 * that cannot be opened or read (base/files/faults.h); names read before the error are still
 * passed on. */
int tree_list(const char *dir, int (*fn)(void *ctx, const char *name), void *ctx);

/* Opens a directory for tree_next(); close it with closedir(). Returns NULL if it is missing, or
 * if it cannot be opened, which is reported (base/files/faults.h). */
DIR *tree_open(const char *dir);
/* Returns the next entry, except "." and "..". Returns NULL at the end and after an error,
 * which is reported for the directory. */
const struct dirent *tree_next(DIR *dir);

/* Visits everything below `top`, a directory before its contents. Skips files that are removed
 * meanwhile. Any other error, including one while reading a directory, ends the walk, so that
 * an incomplete list is never treated as complete. Returns 0 or a negative errno. */
int tree_walk(const char *top, tree_fn fn, void *ctx, struct err *err);
