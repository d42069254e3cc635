/* line_cache.h - the folder of index files: its place, names, size and eviction.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "resolve/line_index.h"

enum {
	LINE_CACHE_DEFAULT_MB = 1024
};

/* $XDG_CACHE_HOME/oprofile, else $HOME/.cache/oprofile; malloc'd, NULL if neither is set, or if others
 * can change it: then a warning names it. */
char *line_cache_dir(void);
/* Where the index of a key is; malloc'd, NULL if memory is short. */
char *line_cache_path(const char *dir, const struct line_key *key);
/* Its unwind table (resolve/unwind_cache.h). */
char *line_cache_unwind_path(const char *dir, const struct line_key *key);

struct line_cache_entry {
	char *path; /* malloc'd, as is path_of */
	char *path_of; /* of the binary as it was when the index was written; NULL: damaged */
	struct line_key key;
	uint64_t bytes;
	int64_t used_ns; /* since 1970 */
	bool is_unwind;  /* it is an unwind table */
	size_t nr_units; /* in the debug information */
	size_t nr_kept;  /* of which the index has blocks */
};
typedef VEC(struct line_cache_entry) line_cache_list;

/* Lists the index files, last used first.  `details`: opens each; else only path, bytes and
 * used_ns are there.  0 (also if there is no folder) or a negative errno. */
int line_cache_read(const char *dir, bool details, line_cache_list *ret_list);
void line_cache_list_done(line_cache_list *list);
/* Removes what was not used for longest until at most `max_bytes` are left, and unfinished
 * files of writers that died.  *ret_removed (may be NULL): how many files. */
int line_cache_trim(const char *dir, uint64_t max_bytes, size_t *ret_removed);
/* What index files may take together: $OPROFILE_CACHE_MB megabytes, else the default. */
uint64_t line_cache_limit(void);
