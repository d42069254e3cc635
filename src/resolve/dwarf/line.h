/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line.h - line number programs, which map instructions to source lines.
 * Layer: resolve. Source of the format: DWARF 5, section 6.2; DWARF 2-4, section 6.2. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "resolve/dwarf/unit.h"

enum {
	DWARF_OPCODES_MAX = 256
};

struct dwarf_path {
	const char *text; /* text in the program itself; NULL: use `value` */
	struct dwarf_value value;
	uint64_t dir; /* for a file: index of its directory */
};

/* The text of a source file that clang -gembed-source embedded in the program. */
struct dwarf_embedded {
	uint32_t file;
	struct dwarf_path text;
};

/* A program whose header has been read. Borrows the reader's bytes until the next program is
 * opened. */
struct dwarf_program {
	const struct dwarf_unit *unit; /* the unit whose DW_AT_stmt_list refers to it */
	struct dwarf_reader *rd;
	struct cursor c; /* position in the opcodes, up to the end of the program */
	uint8_t version;
	uint8_t off_bytes;
	uint8_t addr_bytes;
	uint8_t min_inst;
	uint8_t max_ops;
	uint8_t line_range;
	uint8_t opcode_base;
	int8_t line_base;
	uint8_t opcode_args[DWARF_OPCODES_MAX];
	VEC(struct dwarf_path) dirs;
	VEC(struct dwarf_path) files;
	VEC(struct dwarf_embedded) embedded;
};

struct dwarf_row {
	uint64_t addr;
	uint32_t file; /* file number in the program */
	uint32_t line;
	uint32_t discriminator;
	uint16_t column;
	bool end; /* end of a sequence: the address after its last byte */
};

typedef VEC(struct dwarf_row) dwarf_row_vec;

/* Opens the line program of a unit. Returns 0, -ENODATA (the unit has none), -EBADMSG
 * (malformed, or the file's programs are read more often than a valid file needs), -EOPNOTSUPP
 * (unknown version) or -ENOMEM. `p` starts zeroed and can be reused; the caller calls
 * dwarf_program_done() in all cases. */
int dwarf_program_open(struct dwarf_program *p, const struct dwarf_unit *u,
		       struct dwarf_reader *rd);
void dwarf_program_done(struct dwarf_program *p);
/* Runs the program. Appends its rows sorted by address, only the last one for each address;
 * each sequence ends with a row with `end` set. Skips sequences of code that the linker
 * removed. Returns 0 or -ENOMEM. If the program is damaged, keeps the rows before the error. */
int dwarf_program_run(struct dwarf_program *p, dwarf_row_vec *out);
/* Appends the path of file number `file`, and a NUL; nothing if there is no such file. Returns
 * 0 or -ENOENT. */
int dwarf_program_path(struct dwarf_program *p, uint64_t file, struct buf *out);
/* Returns the text of the i-th of p->embedded, or NULL if it cannot be read. Valid until the
 * reader reads another text. */
const char *dwarf_program_embedded(const struct dwarf_program *p, size_t i);
