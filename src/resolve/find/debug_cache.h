/* debug_cache.h - perf's cache of binaries and kernel symbols, found by build-id (~/.debug).
 * Layer: resolve.
 *
 * Layout: .build-id/XX/REST is a link, XX and REST the build-id in hex, to the folder
 * PATH/BUILD-ID of the cache, in which "elf" is the binary, "debug" its separate debug file,
 * "vdso" or "kallsyms" what their names say.  Before Linux 4.5 PATH/BUILD-ID was the file
 * itself.  [kernel.kcore]/BUILD-ID/TIME/ holds kcore, kallsyms and modules of one boot.
 * Source: tools/perf/util/build-id.c, tools/perf/builtin-buildid-cache.c.
 * Where links were lost (an archive unpacked on a file system without them), a link is a
 * small file with the link's text; such a one is read, too.
 *
 * A cache can come from anywhere.  Only regular files are opened; a binary counts only if its
 * own build-id is the wanted one, and kallsyms, which has none, only from a folder that is
 * called by it. */
#pragma once
#include "base/containers/vec.h"
#include "format/session/dict.h"

enum debug_cache_part {
	DEBUG_CACHE_ELF,
	DEBUG_CACHE_DEBUG,
	DEBUG_CACHE_VDSO,
	DEBUG_CACHE_KALLSYMS,
	DEBUG_CACHE_PARTS
};

enum {
	DEBUG_CACHE_BOOTS_MAX =
		64, /* folders below [kernel.kcore]/BUILD-ID that are read */
	DEBUG_CACHE_UNPACKED_MAX = 256 << 20 /* bytes of an unpacked module */
};

/* Opens a part for reading.  `dir` is the cache; `name` (may be NULL) the image's path or
 * name: with it the file is found without its link.  A module packed with xz or zstd is
 * unpacked into memory.  0: *ret_fd and *ret_path (malloc'd) are the caller's.  -ENOENT;
 * -ESTALE: what is there has another build-id; -ENOMEM; or what an open said, -ELOOP too. */
int debug_cache_open(const char *dir, const struct build_id *id,
		     enum debug_cache_part part, const char *name, int *ret_fd,
		     char **ret_path);

/* The text of a build-id's link, malloc'd, whether the link is one or was lost.  -ENOENT;
 * -EINVAL (*ret_text is NULL then): it is no link but a file or folder; -ENOMEM, ... */
int debug_cache_link(const char *dir, const struct build_id *id, char **ret_text);
/* The name of a part's file: "elf". */
const char *debug_cache_part_file(enum debug_cache_part part);

/* The kallsyms of this kernel, one for each boot: of [kernel.kallsyms] first, then those of
 * [kernel.kcore].  Paths are malloc'd, and the caller's with the vec.  0 or -ENOMEM. */
typedef VEC(char *) debug_cache_paths;
int debug_cache_kallsyms(const char *dir, const struct build_id *id,
			 debug_cache_paths *ret_paths);
void debug_cache_paths_done(debug_cache_paths *paths);
