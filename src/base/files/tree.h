/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - visits every file below a directory, and reports what cannot be read.
 * Layer: base. */
#pragma once
#include <dirent.h>
#include <sys/stat.h>

struct err;

struct tree_entry {
	const char *path;  /* of the file; borrowed until the callback returns */
	const char *below; /* the same, relative to the top */
	const char *name;  /* its last component */
	struct stat st;    /* of the file itself: links are not followed */
};

enum {
	TREE_SKIP = 1
};

/* Returns 0, TREE_SKIP (do not enter this directory), or a negative errno, with its line in the
 * caller's struct err, which ends the walk. */
typedef int (*tree_fn)(void *ctx, const struct tree_entry *entry);

/* Calls `fn` for each name in the directory `dir`, except "." and "..", until it returns something else than 0,
 * which is returned.  A directory that is missing is empty; one that cannot be opened or read is reported
 * (base/files/faults.h), and the names read before the error count. */
int tree_list(const char *dir, int (*fn)(void *ctx, const char *name), void *ctx);

/* Opens a directory for tree_next(); closedir() it.  NULL: it is missing, or cannot be opened, which is reported. */
DIR *tree_open(const char *dir);
/* The next entry, except "." and ".."; NULL at the end, and after an error, which is reported as that of the
 * directory. */
const struct dirent *tree_next(DIR *dir);

/* Visits everything below `top`, a directory before its contents.  A file that is removed meanwhile
 * is left out; any other error, also while a directory is read, ends the walk: a partial list is
 * never returned as a whole one.  0 or a negative errno. */
int tree_walk(const char *top, tree_fn fn, void *ctx, struct err *err);
