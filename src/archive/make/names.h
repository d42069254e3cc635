/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.h - the names in an archive that is being made, with the files that have them.
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
	struct map
		map; /* (hash, 0): a file -> index; (hash, 1): a directory above one */
	VEC(struct archive_origin) origins;
};

enum archive_name_state {
	ARCHIVE_NAME_FREE,
	ARCHIVE_NAME_SAME, /* the same file has it; in the cache, one with the same build-id */
	ARCHIVE_NAME_OTHER /* another file has it, or is above or below it */
};

/* `st`: the file; NULL: unknown, which counts as the same file. */
enum archive_name_state archive_names_check(const struct archive_names *n,
					    const char *name, const struct stat *st);
/* Returns the index of the file, in the order in which they were added, or MAP_NONE. */
uint32_t archive_names_find(const struct archive_names *n, const char *name);
/* Adds a name that is free.  `st`: as above.  Returns 0 or -ENOMEM. */
int archive_names_add(struct archive_names *n, const char *name, const struct stat *st);
void archive_names_done(struct archive_names *n);
