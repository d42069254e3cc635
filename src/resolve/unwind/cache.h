/* cache.h - unwind tables in files, one for each build-id, beside the index files of lines:
 * who needs a table again does not make it again.  The form: docs/unwinding.md.
 * Layer: resolve. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "resolve/find/index_cache.h"
#include "resolve/unwind/table.h"

struct elf_file;

/* As unwind_table_load(), from the folder `dir` (index_cache_dir(); NULL: there is none) if that has the
 * table of this build-id; else it is made and put there.  `path`: of the binary, for lists. */
int unwind_cache_load(const char *dir, const char *path, struct elf_file *f,
		      struct elf_file *debug, struct unwind_table **ret_table);

/* The same by who makes a table himself where there is none: of the binary that is open at `fd`, or
 * -1, of which nothing is looked at here but its build-id. */
struct unwind_maker {
	int fd;
	bool with_debug;
	/* What others' binaries say of themselves is not taken for granted: the table that is kept is of
	 * this file (device, inode, size, time) alone, not of all with its build-id. */
	bool of_file;
	int (*make)(void *ctx, int fd, struct unwind_table **ret_table);
	void *ctx;
};
int unwind_cache_load_by(const char *dir, const char *path,
			 const struct unwind_maker *maker,
			 struct unwind_table **ret_table);

/* What else tells one table from another. */
struct unwind_cache_key {
	struct index_key id;
	bool with_debug; /* a separate debug file was looked into */
};
/* Reads the file at `path`.  0; -ENOENT; -EBADMSG: it is damaged, hostile, of another version or of
 * another key (NULL: any); -ENOMEM, ... */
int unwind_cache_read(const char *path, const struct unwind_cache_key *key,
		      struct unwind_table **ret_table);
/* A file beside, which is renamed.  0 or a negative errno. */
int unwind_cache_write(const char *path, const struct unwind_cache_key *key,
		       const char *path_of, const struct unwind_table *t);
/* The binary's path as it was then; malloc'd, NULL: the file is not good. */
char *unwind_cache_path_of(const char *path);

/* The same between processes, without a key: writes the bytes of such a file at `fd`'s position. */
int unwind_cache_put(int fd, const struct unwind_table *t);
/* Reads them, from the beginning of a regular file that its writer may still change: what was read is
 * what was checked.  0; -EBADMSG, also of a file of more than `max_bytes`; -ENOMEM, ... */
int unwind_cache_take(int fd, uint64_t max_bytes, struct unwind_table **ret_table);
