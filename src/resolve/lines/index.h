/* index.h - the index file of one binary: which unit covers which addresses, and the
 * blocks (resolve/lines/block.h) of the units that somebody has asked about.
 * Layer: resolve.  Mapped into memory; little-endian; written beside and renamed, so that
 * any number of readers and writers may work at once.  The form: docs/line-index.md.
 *
 * A file that becomes shorter under us reads as zeros (base/files/mapped.h).
 * Each block has a hash of its own, which is checked when the block is first used: opening a
 * big index costs nothing, and a damaged block is one that is not there. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/vec.h"
#include "base/files/mapped.h"
#include "resolve/find/index_cache.h"

enum {
	LINE_INDEX_VERSION = 4,
	LINE_INDEX_HEAD = 64,
	LINE_INDEX_UNITS_MAX = 1 << 24
};

enum line_unit_state {
	LINE_UNIT_ABSENT,
	LINE_UNIT_UNCHECKED, /* in the index file; not yet looked at */
	LINE_UNIT_READY,
	LINE_UNIT_WRITTEN, /* in the file that is being written; not at hand */
	LINE_UNIT_FAILED   /* it cannot be read */
};

struct line_unit {
	uint64_t off; /* in .debug_info */
	const uint8_t *block;
	uint8_t *owned; /* the same, if it is to be freed; NULL: in the index file */
	uint64_t hash;
	uint64_t place; /* in the file that is being written; 0: not there */
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

struct line_directory {
	VEC(struct line_unit) units;
	VEC(struct line_cover) covers; /* by address */
	struct line_unit symbols;      /* as if it was a unit */
};

struct line_index {
	struct mapped map; /* bytes NULL: none */
	dev_t dev;         /* which file that is */
	ino_t ino;
	char *path_of; /* the binary's, for --list; malloc'd */
};

/* Maps the index at `path` and reads its directory, if it is whole and of `key` (NULL: of
 * any).  0, -ENOENT, -EBADMSG (damaged, of another version or another binary), -ENOMEM, ... */
int line_index_open(struct line_index *x, const char *path, const struct index_key *key,
		    struct line_directory *ret_dir);
void line_index_close(struct line_index *x);
/* Whether the unit's block is good to be used; asked once, remembered in the state. */
bool line_index_check(struct line_unit *u);
void line_directory_done(struct line_directory *dir);
/* The cover at `addr`: its unit, LINE_NO_UNIT if none, and where it begins and ends. */
uint32_t line_directory_find(const struct line_directory *dir, uint64_t addr,
			     uint64_t *ret_low, uint64_t *ret_high);

/* "OPLINES": what a file begins with. */
extern const char line_index_magic[8];

/* A file that is being written, beside the one at `path`. */
struct line_writer;
int line_writer_open(const char *path, struct line_writer **ret_writer);
/* Adds a block and sets u->place; any thread may.  What goes wrong line_writer_finish()
 * tells. */
void line_writer_put(struct line_writer *w, struct line_unit *u, const void *bytes);
/* Adds those of the directory's blocks that are at hand and were not put yet, and the
 * directory; the file takes the place of the one at `path`.  0 or a negative errno; nothing is
 * left behind then.  The writer is gone in any case. */
int line_writer_finish(struct line_writer *w, const struct index_key *key,
		       const char *path_of, struct line_directory *dir);
/* Leaves it; NULL is fine. */
void line_writer_drop(struct line_writer *w);
