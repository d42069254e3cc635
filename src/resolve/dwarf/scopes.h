/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scopes.h - the functions and inlined functions of a unit, with their addresses.
 * Layer: resolve. Keeps only functions and inlined functions that have code; skips types and
 * variables.
 * Source of the format: DWARF 5, sections 3.3 (functions, inlining) and 7.5. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "resolve/dwarf/ranges.h"
#include "resolve/dwarf/unit.h"

enum {
	DWARF_DEPTH_MAX = 2048,
	DWARF_NO_SCOPE = 0xffffffff,
	DWARF_NO_NAME = 0xffffffff
};

struct dwarf_function {
	uint32_t name; /* offset in names; DWARF_NO_NAME: none */
	/* The name is the linker's symbol, not only the name in the source. */
	bool linkage;
	uint32_t decl_file;
	uint32_t decl_line;
};

/* A function, or an inlined instance of a function. */
struct dwarf_scope {
	uint32_t parent; /* DWARF_NO_SCOPE: not inlined */
	uint32_t function;
	uint32_t call_file; /* file number in the unit's line program */
	uint32_t call_line;
	uint32_t call_column;
	uint32_t call_discriminator;
	uint64_t start; /* of its first range */
};

struct dwarf_scope_range {
	uint64_t low;
	uint64_t high;
	uint32_t scope;
};

/* From `addr` up to the next span's `addr`, `scope` is the innermost scope. */
struct dwarf_span {
	uint64_t addr;
	uint32_t scope; /* DWARF_NO_SCOPE: none */
};

/* A function without a linkage name, and its entry. */
struct dwarf_unlinked {
	const struct dwarf_info *info;
	uint64_t off;
	/* Set by dwarf_qualify(). */
	uint64_t last;      /* offset of the function's declaration */
	uint64_t full_hash; /* hash of the name with parameters; 0: not computed yet */
	uint32_t function;
	bool is_alt;       /* in dwz's file */
	bool is_ambiguous; /* another function has the same name, but other parameters */
};

/* The functions of one unit. The memory is reused for the next unit. */
struct dwarf_scopes {
	VEC(struct dwarf_scope) scopes; /* parents precede their children */
	VEC(struct dwarf_function) functions;
	VEC(struct dwarf_unlinked) unlinked;
	VEC(struct dwarf_scope_range) ranges;
	VEC(struct dwarf_span) spans; /* by address */
	struct buf names;             /* NUL-terminated */
	struct map by_entry;          /* (offset, file) of an entry -> function */
	dwarf_code_vec code;
	VEC(struct dwarf_scope_range) heap;
};

/* Reads an open unit. Returns 0, -EBADMSG (damaged: keeps everything before the error) or
 * -ENOMEM. */
int dwarf_scopes_read(struct dwarf_scopes *s, struct dwarf_open_unit *o,
		      struct dwarf_reader *rd);
void dwarf_scopes_done(struct dwarf_scopes *s);
