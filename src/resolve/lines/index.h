/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index.h - the index file of a binary: which unit covers which addresses, and the blocks
 * (resolve/lines/block.h) of the units that were needed so far.
 * Layer: resolve. The file is mapped into memory, is little-endian, and is written to a
 * temporary file and renamed, so that any number of readers and writers may work concurrently.
 * Format: docs/line-index.md.
 *
 * If another process truncates the file, its missing part reads as zeros (base/files/mapped.h).
 * Each block has its own hash, which is checked when the block is first used. So opening a
 * large index is fast, and a damaged block is treated as missing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/vec.h"
#include "base/files/mapped.h"
#include "resolve/find/index_cache.h"

enum {
	LINE_INDEX_VERSION = 5,
	LINE_INDEX_HEAD = 64,
	LINE_INDEX_UNITS_MAX = 1 << 24
};

enum line_unit_state {
	LINE_UNIT_ABSENT,
	LINE_UNIT_UNCHECKED, /* in the index file; hash not yet checked */
	LINE_UNIT_READY,
	LINE_UNIT_WRITTEN, /* in the file that is being written; not in memory */
	LINE_UNIT_FAILED   /* cannot be read */
};

struct line_unit {
	uint64_t off; /* in .debug_info */
	const uint8_t *block;
	/* the block, if it must be freed; NULL: the block is in the index file */
	uint8_t *owned;
	uint64_t hash;
	uint64_t position; /* offset in the file that is being written; 0: not in it */
	uint32_t len;
	uint8_t state; /* enum line_unit_state */
	bool keep; /* write the block to the index: it does not depend on missing files */
};

/* From `addr` up to the next cover, this unit. */
struct line_cover {
	uint64_t addr;
	uint32_t unit; /* LINE_NO_UNIT: none */
};

enum {
	LINE_NO_UNIT = 0xffffffff
};

struct line_directory {
	VEC(struct line_unit) units;
	VEC(struct line_cover) covers; /* by address */
	struct line_unit symbols;      /* stored like a unit */
};

struct line_index {
	struct mapped map; /* bytes NULL: none */
	dev_t dev;         /* identify the mapped file */
	ino_t ino;
	char *path_of; /* path of the binary, for --list; malloc'd */
};

/* Maps the index at `path` and reads its directory, if it is complete and for `key` (NULL:
 * any). Returns 0, -ENOENT, -EBADMSG (damaged, or for another version or binary), -ENOMEM, or
 * another negative errno. */
int line_index_open(struct line_index *x, const char *path, const struct index_key *key,
		    struct line_directory *ret_dir);
void line_index_close(struct line_index *x);
/* Returns whether the unit's block is usable; checks it only once, and stores the result in
 * `state`. */
bool line_index_check(struct line_unit *u);
void line_directory_done(struct line_directory *dir);
/* Returns the index of the unit at `addr`, or LINE_NO_UNIT. Sets *ret_low and *ret_high to the
 * range of addresses around `addr` with the same result. */
uint32_t line_directory_find(const struct line_directory *dir, uint64_t addr,
			     uint64_t *ret_low, uint64_t *ret_high);

/* "OPLINES", the beginning of each file. */
extern const char line_index_magic[8];

/* An index file that is being written, as a temporary file in the directory of `path`. */
struct line_writer;
int line_writer_open(const char *path, struct line_writer **ret_writer);
/* Adds a block and sets u->position; thread-safe. Errors are returned by line_writer_finish(). */
void line_writer_put(struct line_writer *w, struct line_unit *u, const void *bytes);
/* Writes the blocks of the directory that are in memory and not yet in the file, and the
 * directory; then renames the file to its path. Returns 0 or a negative errno; after an error,
 * the temporary file is removed. Frees the writer in any case. */
int line_writer_finish(struct line_writer *w, const struct index_key *key,
		       const char *path_of, struct line_directory *dir);
/* Removes the temporary file and frees the writer; accepts NULL. */
void line_writer_drop(struct line_writer *w);
