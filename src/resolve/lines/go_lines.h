/* SPDX-License-Identifier: GPL-2.0-or-later */
/* go_lines.h - the lines and functions of a Go program's own table (resolve/go/table.h), in the
 * form that the blocks of the line index are made from.
 * Layer: resolve. The table has no units, so each unit is a number of adjacent functions. */
#pragma once
#include "resolve/dwarf/line.h"
#include "resolve/dwarf/scopes.h"
#include "resolve/go/table.h"

enum {
	GO_UNIT_FUNCTIONS = 128
};

/* A run of GO_INLINE. */
struct go_lines_call {
	uint64_t low;
	uint64_t high;
	int32_t index;
};

/* Filled for one unit, then reused for the next; starts zeroed. */
struct go_lines {
	const struct go_table *table;
	struct dwarf_scopes scopes;
	dwarf_row_vec rows;
	VEC(const char *) paths; /* by file number */
	struct map path_numbers;
	struct map functions; /* name -> function */
	/* For the current function: */
	struct go_function fn;
	size_t first_row;
	uint64_t code_end; /* without padding */
	VEC(struct go_lines_call) calls;
	VEC(uint32_t) scope_of; /* index of an inlined call -> scope + 1; 0: none yet */
};

/* Returns the number of units. */
size_t go_lines_count_units(const struct go_table *t);
/* Sets the addresses of a unit's code. */
void go_lines_range(const struct go_table *t, size_t unit, struct dwarf_code *ret_code);
/* Reads a unit into g->rows and g->scopes. Returns 0 or -ENOMEM. */
int go_lines_read(struct go_lines *g, const struct go_table *t, size_t unit);
/* Appends the path of a file number of g->rows, and a NUL; `go_lines` is a struct go_lines. Returns
 * 0, or -ENOENT if the path is unknown. */
int go_lines_path(void *go_lines, uint64_t file, struct buf *out);
void go_lines_done(struct go_lines *g);
