/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cache.h - stores unwind tables in files, one per build-id, next to the index files of lines,
 * so that later runs do not build them again. Format: docs/unwinding.md.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "resolve/find/index_cache.h"
#include "resolve/unwind/table.h"

struct elf_file;

/* Like unwind_table_load(), but reads the table from the directory `dir` (index_cache_dir();
 * NULL: none) if it is there. Otherwise builds it, and stores it there if it is large enough.
 * `path` is that of the binary, for lists. */
int unwind_cache_load(const char *dir, const char *path, struct elf_file *f,
		      struct elf_file *debug, struct unwind_table **ret_table);

/* Like unwind_cache_load(), for a caller that has its own function to build a missing table. `fd`
 * is the binary, of which only the build-id and (with of_file) the status are read here, or -1:
 * then the cache is not used. */
struct unwind_maker {
	int fd;
	bool with_debug;
	/* The binary is not trusted: the stored table is used only for this file (device,
	 * inode, size, time), not for all files with its build-id. */
	bool of_file;
	int (*make)(void *ctx, int fd, struct unwind_table **ret_table);
	void *ctx;
};
int unwind_cache_load_by(const char *dir, const char *path,
			 const struct unwind_maker *maker,
			 struct unwind_table **ret_table);

/* Everything that identifies a table. */
struct unwind_cache_key {
	struct index_key id;
	bool with_debug; /* a separate debug file was also used */
};
/* Reads the table in the file at `path`. `key` NULL: any. Returns 0; -ENOENT; -EBADMSG if it is
 * damaged, hostile, or of another version or key; -ENOMEM or another negative errno. */
int unwind_cache_read(const char *path, const struct unwind_cache_key *key,
		      struct unwind_table **ret_table);
/* Writes a temporary file and renames it to `path`. Returns 0 or a negative errno. */
int unwind_cache_write(const char *path, const struct unwind_cache_key *key,
		       const char *path_of, const struct unwind_table *t);
/* Returns the path of the binary when the file was written (malloc'd), or NULL if the file is
 * not valid. */
char *unwind_cache_path_of(const char *path);

/* Sends a table to another process: writes the content of a table file, without a key, at the
 * position of `fd`. */
int unwind_cache_put(int fd, const struct unwind_table *t);
/* Reads a table that unwind_cache_put() wrote, from the beginning of a regular file. The writer may
 * still change the file, so the data is copied before it is checked. Returns 0; -EBADMSG, also if
 * the file has more than `max_bytes`; -ENOMEM or another negative errno. */
int unwind_cache_take(int fd, uint64_t max_bytes, struct unwind_table **ret_table);
