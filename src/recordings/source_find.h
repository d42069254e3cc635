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
	const char *
		base_dirs; /* likewise; prefixes to remove from paths before that search */
	const char *
		archive; /* directory of the archive; then sources are only searched there */
	const char *root; /* prefix for paths; both may be NULL */
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
/* Returns the file for a path of path_full() (malloc'd), or NULL if it is not found.  `here`:
 * paths refer to files of this machine. */
char *source_find(const struct source_find *f, const char *path, bool here);

/* Opens the file in order to copy it to a location that others can read: a file of the
 * directories that the caller named, or one that copy_rule_allows().
 * Returns a descriptor, and the file's name in *ret_file (malloc'd).  Returns -EACCES if the file
 * is left out, also with its name in *ret_file.  Returns -ENOENT or another negative errno with
 * *ret_file NULL.  `binary`: the path of the binary, NULL: unknown. */
int source_find_open(const struct source_find *f, const char *path, bool here,
		     const char *binary, char **ret_file);
