/* line.h - line number programs: which source line each instruction came from.
 * Layer: resolve.  Source of the format: DWARF 5, section 6.2; DWARF 2-4, section 6.2. */
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
	const char *text; /* in the program's own bytes; NULL: elsewhere */
	struct dwarf_value value;
	uint64_t dir; /* of a file */
};

/* The text of a file, which clang -gembed-source puts into the program. */
struct dwarf_embedded {
	uint32_t file;
	struct dwarf_path text;
};

/* One program, its header read.  Borrows the reader's bytes until the next one. */
struct dwarf_program {
	const struct dwarf_unit *unit; /* the one whose DW_AT_stmt_list it is */
	struct dwarf_reader *rd;
	struct cursor c; /* at the first opcode; ends behind the last one */
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
	uint32_t file; /* as the program numbers them */
	uint32_t line;
	uint32_t discriminator;
	uint16_t column;
	bool end; /* the first address behind a sequence */
};

typedef VEC(struct dwarf_row) dwarf_row_vec;

/* 0, -ENODATA (the unit has none), -EBADMSG (or the file's programs were read more often than
 * an honest file asks for), -EOPNOTSUPP (a version that nobody knows) or
 * -ENOMEM.  dwarf_program_done() in any case; `p` starts as zeros and is used again. */
int dwarf_program_open(struct dwarf_program *p, const struct dwarf_unit *u,
		       struct dwarf_reader *rd);
void dwarf_program_done(struct dwarf_program *p);
/* Runs it: rows by address, one for each, the last of several; sequences one behind the
 * other, each closed by a row that says `end`.  Sequences of what linkers dropped are left
 * out.  0 or -ENOMEM; a program that breaks off gives what came before. */
int dwarf_program_run(struct dwarf_program *p, dwarf_row_vec *out);
/* Appends the path of file number `file`, and a NUL; nothing if there is no such file.
 * 0 or -ENOENT. */
int dwarf_program_path(struct dwarf_program *p, uint64_t file, struct buf *out);
/* The text of the i-th of p->embedded, NULL: it cannot be read.  Borrowed until the reader's next
 * text. */
const char *dwarf_program_embedded(const struct dwarf_program *p, size_t i);
