/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index_cache.h - the directory of index files: location, file names, size and eviction.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

enum {
	INDEX_CACHE_DEFAULT_MB = 1024,
	INDEX_KEY_MAX = 64,
	INDEX_PATH_MAX = 4096 /* path of the binary */
};

/* Identifies the binary of an index: its build-id; or a hash of the file's path, inode, size
 * and times if it has no build-id or if another user could control its content. */
struct index_key {
	uint8_t bytes[INDEX_KEY_MAX];
	uint32_t len;
	bool is_build_id;
};

/* Returns $XDG_CACHE_HOME/oprofile or $HOME/.cache/oprofile (malloc'd). Returns NULL if neither
 * variable is set, or (with a warning) if other users can change the directory. */
char *index_cache_dir(void);
/* Returns the path of the index with this key (malloc'd), or NULL if out of memory. */
char *index_cache_lines_path(const char *dir, const struct index_key *key);
/* Like index_cache_lines_path(), for an unwind table (resolve/unwind/cache.h). */
char *index_cache_unwind_path(const char *dir, const struct index_key *key);

struct index_cache_entry {
	char *path; /* malloc'd, like path_of */
	/* Path of the binary when the index was written; NULL: damaged. */
	char *path_of;
	struct index_key key;
	uint64_t bytes;
	int64_t used_ns; /* last use, in ns since 1970 */
	bool is_unwind;  /* an unwind table */
	size_t nr_units; /* in the debug information */
	size_t nr_kept;  /* units that the index has blocks of */
};
typedef VEC(struct index_cache_entry) index_cache_list;

/* Lists the index files, most recently used first, with path, bytes and used_ns.
 * index_details_read() fills in the rest. Returns 0 (also if there is no directory) or a
 * negative errno. */
int index_cache_read(const char *dir, index_cache_list *ret_list);
void index_cache_list_done(index_cache_list *list);
/* Removes the least recently used index files until at most `max_bytes` remain, and temporary
 * files that dead writers left. *ret_removed (may be NULL) is the number of removed index files.
 * Returns 0 or a negative errno. */
int index_cache_trim(const char *dir, uint64_t max_bytes, size_t *ret_removed);
/* Returns the maximum size of all index files together, in bytes: $OPROFILE_CACHE_MB, else the
 * default. */
uint64_t index_cache_limit(void);
