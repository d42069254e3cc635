/* debug_cache_store.h - what is in perf's cache, and putting things there and away again.
 * Layer: resolve.  The layout: resolve/find/debug_cache.h.  perf may use the cache meanwhile:
 * files appear under their names whole, the link to them last. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/containers/vec.h"
#include "format/session/dict.h"
#include "resolve/find/debug_cache.h"

struct debug_cache_entry {
	struct build_id id;
	char *name; /* path of the binary, "[kernel.kallsyms]", "[vdso]" */
};
typedef VEC(struct debug_cache_entry) debug_cache_entries;

/* All that links lead to, by build-id; dangling links are left out.  A cache that does not
 * exist is empty.  0 or -ENOMEM. */
int debug_cache_list(const char *dir, debug_cache_entries *ret_entries);
void debug_cache_entries_done(debug_cache_entries *entries);

/* Puts `file` there as a part of the binary `name` (an absolute path, or a name in brackets)
 * with this build-id: as a hard link where that is possible, else copied.  What is there
 * already stays, but its link is put right.  0 or a negative errno. */
int debug_cache_add(const char *dir, const struct build_id *id,
		    enum debug_cache_part part, const char *name, const char *file);
/* The same from memory. */
int debug_cache_add_bytes(const char *dir, const struct build_id *id,
			  enum debug_cache_part part, const char *name,
			  const void *bytes, size_t len);
/* Removes all parts of a build-id and its link.  0; -ENOENT: there is none; -EPERM: the link
 * leads out of the cache, only it is removed; or another negative errno. */
int debug_cache_remove(const char *dir, const struct build_id *id);
/* Reads hex digits, all of them: 2 to 40.  False: something else. */
bool build_id_parse(const char *hex, struct build_id *ret_id);
