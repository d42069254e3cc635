/* index_cache.h - the folder of index files: its place, names, size and eviction.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

enum {
	INDEX_CACHE_DEFAULT_MB = 1024,
	INDEX_KEY_MAX = 64,
	INDEX_PATH_MAX = 4096 /* of the binary */
};

/* Identifies the binary of an index: a build-id, or a hash of the path, inode, size and times of the
 * file, if it has no build-id or if another user could choose its content. */
struct index_key {
	uint8_t bytes[INDEX_KEY_MAX];
	uint32_t len;
	bool is_build_id;
};

/* $XDG_CACHE_HOME/oprofile, else $HOME/.cache/oprofile; malloc'd, NULL if neither is set, or if others
 * can change it: then a warning names it. */
char *index_cache_dir(void);
/* Where the index of a key is; malloc'd, NULL if memory is short. */
char *index_cache_lines_path(const char *dir, const struct index_key *key);
/* Its unwind table (resolve/unwind/cache.h). */
char *index_cache_unwind_path(const char *dir, const struct index_key *key);

struct index_cache_entry {
	char *path; /* malloc'd, as is path_of */
	char *path_of; /* of the binary as it was when the index was written; NULL: damaged */
	struct index_key key;
	uint64_t bytes;
	int64_t used_ns; /* since 1970 */
	bool is_unwind;  /* it is an unwind table */
	size_t nr_units; /* in the debug information */
	size_t nr_kept;  /* of which the index has blocks */
};
typedef VEC(struct index_cache_entry) index_cache_list;

/* Lists the index files, last used first: path, bytes and used_ns.  What they are of:
 * index_details_read().  0 (also if there is no directory) or a negative errno. */
int index_cache_read(const char *dir, index_cache_list *ret_list);
void index_cache_list_done(index_cache_list *list);
/* Removes what was not used for longest until at most `max_bytes` are left, and unfinished
 * files of writers that died.  *ret_removed (may be NULL): how many files. */
int index_cache_trim(const char *dir, uint64_t max_bytes, size_t *ret_removed);
/* What index files may take together: $OPROFILE_CACHE_MB megabytes, else the default. */
uint64_t index_cache_limit(void);
