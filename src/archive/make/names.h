/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - the names in an archive that is being made, and the files that were stored under them.
 * Layer: archive. */
#pragma once
#include <stdint.h>
#include <sys/stat.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

struct archive_origin {
	dev_t dev;
	ino_t inode; /* 0: unknown */
};

struct archive_names {
	/* (hash of a name, 0) -> index of the file; also an entry (hash of a directory's name,
	 * 1) for each directory above a file. */
	struct map map;
	VEC(struct archive_origin) origins;
};

enum archive_name_state {
	ARCHIVE_NAME_FREE,
	/* `st` already has this name. In the cache: a file with the same build-id has the name. */
	ARCHIVE_NAME_SAME,
	/* another file has this name, or a name above or below it in the directory tree */
	ARCHIVE_NAME_OTHER
};

/* Checks whether the name can be used for the file `st`. If `st` is NULL (an unknown file), a
 * name that is in use counts as ARCHIVE_NAME_SAME. */
enum archive_name_state archive_names_check(const struct archive_names *n,
					    const char *name, const struct stat *st);
/* Returns the index of the file with this name (files are numbered in the order in which they
 * were added), or MAP_NONE. */
uint32_t archive_names_find(const struct archive_names *n, const char *name);
/* Adds a name that is free for the file `st` (NULL: unknown). Returns 0 or -ENOMEM. */
int archive_names_add(struct archive_names *n, const char *name, const struct stat *st);
void archive_names_done(struct archive_names *n);
