/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_make.h - makes blocks from the data that was read of a unit.
 * Layer: resolve. */
#pragma once
#include "base/buf.h"
#include "base/containers/vec.h"
#include "resolve/dwarf/line.h"
#include "resolve/dwarf/scopes.h"

/* Memory that is reused from block to block; starts zeroed. */
struct line_block_maker {
	/* File number in the line number program -> number in the block + 1; 0: not assigned. */
	VEC(uint32_t) file_of;
	VEC(uint32_t) files; /* offsets in strings */
	VEC(uint32_t) scope_at;
	VEC(uint64_t) heads;
	VEC(uint32_t) starts;
	struct buf strings;
	struct buf scopes;
	struct buf spans;
	struct buf rows;
	struct buf functions;
};

/* Provides the paths of the file numbers in rows, functions and calls. */
struct line_paths {
	/* Appends a path and a NUL; nothing if there is no such file. Returns 0 or -ENOENT. */
	int (*append)(void *ctx, uint64_t file, struct buf *out);
	void *ctx;
};

/* Appends a block to `out`. `p` is NULL if no file is known. Returns 0, -EFBIG (2 GiB or more)
 * or -ENOMEM. */
int line_block_make(struct line_block_maker *m, const struct line_paths *p,
		    const dwarf_row_vec *rows, const struct dwarf_scopes *s,
		    struct buf *out);
void line_block_maker_done(struct line_block_maker *m);
