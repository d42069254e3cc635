/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_find.h - finds a source file whose path comes from debug information: at that path,
 * below --root, in an archive, or below the directories of --search-dirs.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

#include "base/containers/vec.h"

struct err;

struct source_find_options {
	const char *search_dirs; /* comma-separated directories; NULL: none */
	/* comma-separated prefixes to remove from paths before the search; NULL: none */
	const char *base_dirs;
	/* directory of an archive; NULL: none. Source paths are then looked up in the archive
	 * instead of on this machine. */
	const char *archive;
	const char *root; /* prefix for paths; `archive` and `root` may be NULL */
};

typedef VEC(char *) source_find_paths;

struct source_find {
	source_find_paths search;
	source_find_paths base;
	const char *archive;
	const char *root;
};

/* Initializes a search, which the strings archive and root must outlive. Returns 0, or a negative
 * errno with a message in *err, for example if --search-dirs names something other than
 * directories. Call source_find_done() in any case. */
int source_find_init(struct source_find *f, const struct source_find_options *options,
		     struct err *err);
void source_find_done(struct source_find *f);
/* Returns the path of the source file (malloc'd), or NULL if it is not found. `path` is absolute
 * (path_full()). `here`: the path refers to a file of this machine. */
char *source_find(const struct source_find *f, const char *path, bool here);

/* Opens the source file `path` for output that other users can read. Only opens files in the
 * archive, files in the directories of --search-dirs, and others that copy_rule_allows(). `here`
 * is as for source_find(). `binary`: the path of the binary, NULL: unknown. Returns a
 * descriptor, and the file's name in *ret_file (malloc'd). Returns -EACCES, also with the name,
 * if the rules exclude the file. On any other error, *ret_file is NULL (-ENOENT: not found). */
int source_find_open(const struct source_find *f, const char *path, bool here,
		     const char *binary, char **ret_file);
