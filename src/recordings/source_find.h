/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_find.h - where a source is whose path debug information has: where it was, below
 * --root, in an archive, or below the folders of --search-dirs.
 * Layer: recordings. */
#pragma once
#include <stdbool.h>

#include "base/containers/vec.h"

struct err;

struct source_find_options {
	const char *search_dirs; /* folders, separated by commas; NULL: none */
	const char *base_dirs;   /* likewise: what is cut off in front of paths there */
	const char *archive; /* its folder: sources are there, and nowhere else here */
	const char *root;    /* put before paths; both may be NULL */
};

typedef VEC(char *) source_find_paths;

struct source_find {
	source_find_paths search;
	source_find_paths base;
	const char *archive;
	const char *root;
};

/* The strings archive and root outlive it.  0, or a negative errno with a line: --search-dirs
 * must be folders.  source_find_done() in any case. */
int source_find_init(struct source_find *f, const struct source_find_options *options,
		     struct err *err);
void source_find_done(struct source_find *f);
/* The file of a path_full(), malloc'd; NULL: it is nowhere.  `here`: a path means a file of this machine. */
char *source_find(const struct source_find *f, const char *path, bool here);

/* Opens it to be copied to where others read it: a file of the directories that the caller named, or
 * one that copy_rule_allows().
 * A descriptor; *ret_file is its name, malloc'd.  -EACCES: left out, *ret_file is its name as well.
 * -ENOENT, or another negative errno: *ret_file is NULL.  `binary`: its path, NULL: unknown. */
int source_find_open(const struct source_find *f, const char *path, bool here,
		     const char *binary, char **ret_file);
