/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files of this directory.
 * Layer: resolve, only for code*.c. */
#pragma once
#include "base/containers/vec.h"
#include "base/files/mapped.h"
#include "format/jit/jitdump.h"
#include "resolve/code/code.h"
#include "resolve/elf/file.h"

enum {
	CODE_WINDOW = 4096 /* bytes read at once */
};

/* A relocation of a module's code. */
struct code_reloc {
	uint64_t address;
	uint64_t mask;    /* bits that it changes; 0: unknown target */
	uint64_t value;   /* new value of these bits */
	const char *name; /* name of the target, if its address is unknown; else NULL */
	uint8_t bytes;
};

struct code {
	const struct code_kind *kind;
	int fd;
	bool has_elf;
	struct elf_file elf;
	struct symtab *tab;
	struct symtab *plt;
	struct symtab *data; /* variables, for code_elf; NULL: not read, or none */
	bool data_tried;
	char *symbols_path;
	struct insn_decoder *decoder;
	struct insn_marks *marks; /* for code_elf; NULL: everything is code */
	uint64_t shift;
	/* For a module. */
	VEC(struct section_address) sections;
	VEC(struct code_reloc) relocs; /* by address */
	char *strings;                 /* names of symbols */
	size_t strings_len;
	/* For a jitdump. */
	struct mapped dump_bytes;
	struct jitdump dump;
	bool has_dump;
	char *meant;
	struct jit_lines *jit_lines;
	/* For code that is not in a file. */
	uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	/* Lines. */
	const struct lines_options *options;
	char *path;
	char *debug_path;
	int debug_fd;
	struct lines *lines;
	bool lines_tried;
	/* The bytes read last. */
	uint8_t window[CODE_WINDOW];
	uint64_t window_at;
	size_t window_len;
};

/* The operations that depend on the kind of code. */
struct code_kind {
	int (*begin)(struct code *c, const struct code_where *where, struct err *err);
	/* Reads up to `len` bytes at an address. Returns their number; 0: none. */
	size_t (*read)(struct code *c, uint64_t address, uint8_t *ret_bytes,
		       size_t len);
	const struct symbol *(*symbol)(const struct code *c, uint64_t address,
				       uint64_t *ret_start);
	/* Finds a variable. NULL: this kind of code has no names of variables. */
	const struct symbol *(*data_symbol)(struct code *c, uint64_t address,
					    uint64_t *ret_start);
	const char *(*section)(struct code *c, uint64_t address);
	/* Converts an address to an address of lines.h. NULL: this kind of code has no lines. */
	bool (*line_address)(struct code *c, uint64_t address, uint64_t *ret_address);
};
extern const struct code_kind code_elf;
extern const struct code_kind code_module;
extern const struct code_kind code_jit;
extern const struct code_kind code_bytes_kind;

/* Fills c->relocs for a module, whose section addresses are in c->sections. Skips malformed
 * relocations. Returns 0 or -ENOMEM. */
int code_relocs_read(struct code *c);
/* Returns the index of the first relocation at or after an address. */
size_t code_relocs_from(const struct code *c, uint64_t address);
/* Applies the relocations to `len` bytes at an address. */
void code_relocs_apply(const struct code *c, uint64_t address, uint8_t *bytes,
		       size_t len);

/* Returns the machine with this uname(2) name, or NULL. */
const struct insn_machine *code_machine(const char *name);
/* Opens c->fd as an ELF file, and the disassembler for its machine. */
int code_open_elf(struct code *c, const char *path, struct err *err);
/* For code that a JIT compiler described: finds the source line of an address. Returns the number
 * of frames: 1, or 0 if the line is unknown. */
size_t code_jit_frames(struct code *c, uint64_t address, struct line_frame *ret_frame);
/* Returns the debug information that has the source lines, opened at the first call; NULL if the
 * file has none. */
struct lines *code_lines(struct code *c);
