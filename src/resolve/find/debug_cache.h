/* SPDX-License-Identifier: GPL-2.0-or-later */
/* debug_cache.h - reads perf's cache of binaries and kernel symbols (~/.debug), by build-id.
 * Layer: resolve.
 *
 * Layout: .build-id/XX/REST (the build-id in hex) is a symbolic link to the directory
 * PATH/BUILD-ID of the cache. That directory contains "elf" (the binary), "debug" (its separate
 * debug file), "vdso" or "kallsyms". Before Linux 4.5 PATH/BUILD-ID was the file itself.
 * [kernel.kcore]/BUILD-ID/TIME/ contains kcore, kallsyms and modules of a boot.
 * Source: tools/perf/util/build-id.c, tools/perf/builtin-buildid-cache.c.
 * If an archive was unpacked on a file system without symbolic links, a link is a small file
 * that contains its target; this is also supported.
 *
 * The cache is untrusted. Only regular files are opened. A binary must have the requested
 * build-id. kallsyms has no build-id: its directory must be named after it. */
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
		64, /* limit of directories read below [kernel.kcore]/BUILD-ID */
	DEBUG_CACHE_UNPACKED_MAX = 256 << 20 /* bytes of a decompressed module */
};

/* Opens a file of the cache for reading. `dir` is the cache. `name` (may be NULL) is the
 * image's path or name, by which the file is found even if its link is missing. A module that
 * is compressed with xz or zstd is decompressed into memory.
 * Returns 0: the caller owns *ret_fd and *ret_path (malloc'd); -ENOENT; -ESTALE if the file has
 * another build-id; -ENOMEM; or an error of open(2), including -ELOOP. */
int debug_cache_open(const char *dir, const struct build_id *id,
		     enum debug_cache_part part, const char *name, int *ret_fd,
		     char **ret_path);

/* Reads the target of a build-id's link, which may be a file (see above). The caller frees
 * *ret_text. Returns 0; -ENOENT; -EINVAL if it is a file or directory instead of a link
 * (*ret_text is then NULL); -ENOMEM or another negative errno. */
int debug_cache_link(const char *dir, const struct build_id *id, char **ret_text);
/* Returns the file name of a part, such as "elf". */
const char *debug_cache_part_file(enum debug_cache_part part);

/* Lists the kallsyms files for this kernel, one per boot: that of [kernel.kallsyms] first, then
 * those of [kernel.kcore]. The caller frees the paths with debug_cache_paths_done(). Returns 0
 * or -ENOMEM. */
typedef VEC(char *) debug_cache_paths;
int debug_cache_kallsyms(const char *dir, const struct build_id *id,
			 debug_cache_paths *ret_paths);
void debug_cache_paths_done(debug_cache_paths *paths);
