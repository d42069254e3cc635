/* line_index.h - the index file of one binary: which unit covers which addresses, and the
 * blocks (resolve/line_block.h) of the units that somebody has asked about.
 * Layer: resolve.  Mapped into memory; little-endian; written beside and renamed, so that
 * any number of readers and writers may work at once.  The form: docs/line-index.md.
 *
 * A file that becomes shorter under us reads as zeros (base/mapped.h).
 * Each block has a hash of its own, which is checked when the block is first used: opening a
 * big index costs nothing, and a damaged block is one that is not there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapped.h"
#include "base/vec.h"

enum {
	LINE_INDEX_VERSION = 2,
	LINE_INDEX_HEAD = 64,
	LINE_INDEX_KEY_MAX = 64,
	LINE_INDEX_UNITS_MAX = 1 << 24
};

enum line_unit_state {
	LINE_UNIT_ABSENT,
	LINE_UNIT_UNCHECKED, /* in the index file; not yet looked at */
	LINE_UNIT_READY,
	LINE_UNIT_FAILED /* it cannot be read */
};

struct line_unit {
	uint64_t off; /* in .debug_info */
	const uint8_t *block;
	uint8_t *owned; /* the same, if it is to be freed; NULL: in the index file */
	uint64_t hash;
	uint32_t len;
	uint8_t state; /* enum line_unit_state */
	bool keep;     /* to be written: it depends on nothing that was missing */
};

/* From `addr` on, up to the next one, this unit. */
struct line_cover {
	uint64_t addr;
	uint32_t unit; /* LINE_NO_UNIT: none */
};

enum {
	LINE_NO_UNIT = 0xffffffff
};

/* What says which binary an index is of: a build-id, or a hash of the file's path, inode,
 * size and time. */
struct line_key {
	uint8_t bytes[LINE_INDEX_KEY_MAX];
	uint32_t len;
	bool is_build_id;
};

struct line_directory {
	VEC(struct line_unit) units;
	VEC(struct line_cover) covers; /* by address */
	struct line_unit symbols;      /* as if it was a unit */
};

struct line_index {
	struct mapped map; /* bytes NULL: none */
	char *path_of;     /* the binary's, for --list; malloc'd */
};

/* Maps the index at `path` and reads its directory, if it is whole and of `key` (NULL: of
 * any).  0, -ENOENT, -EBADMSG (damaged, of another version or another binary), -ENOMEM, ... */
int line_index_open(struct line_index *x, const char *path, const struct line_key *key,
		    struct line_directory *ret_dir);
void line_index_close(struct line_index *x);
/* Whether the unit's block is good to be used; asked once, remembered in the state. */
bool line_index_check(struct line_unit *u);
/* Writes all blocks at hand.  0 or a negative errno; nothing is left behind then. */
int line_index_write(const char *path, const struct line_key *key, const char *path_of,
		     const struct line_directory *dir);
void line_directory_done(struct line_directory *dir);
/* The cover at `addr`: its unit, LINE_NO_UNIT if none, and where it begins and ends. */
uint32_t line_directory_find(const struct line_directory *dir, uint64_t addr,
			     uint64_t *ret_low, uint64_t *ret_high);
