/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_cache_store.h - lists, adds and removes files of perf's cache.
 * Layer: resolve. The layout is in resolve/find/debug_cache.h. perf may use the cache
 * concurrently: files are renamed into place when complete, and their link is created last. */
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

/* Lists the targets of all links, by build-id, without dangling links. A cache that does not
 * exist is empty. Returns 0 or -ENOMEM. */
int debug_cache_list(const char *dir, debug_cache_entries *ret_entries);
void debug_cache_entries_done(debug_cache_entries *entries);

/* Adds `file` as a part of the binary `name` (an absolute path, or a name in brackets) with
 * this build-id: as a hard link if possible, else as a copy. An existing file is kept, but its
 * link is corrected. Returns 0 or a negative errno. */
int debug_cache_add(const char *dir, const struct build_id *id,
		    enum debug_cache_part part, const char *name, const char *file);
/* Like debug_cache_add(), for a file in memory. */
int debug_cache_add_bytes(const char *dir, const struct build_id *id,
			  enum debug_cache_part part, const char *name,
			  const void *bytes, size_t len);
/* Removes all parts of a build-id, and its link. Returns 0; -ENOENT if none exists; -EPERM if
 * the link leads out of the cache (then only the link is removed); or another negative errno. */
int debug_cache_remove(const char *dir, const struct build_id *id);
/* Parses a build-id of 2 to 40 lower-case hex digits. Returns false for any other text. */
bool build_id_parse(const char *hex, struct build_id *ret_id);
