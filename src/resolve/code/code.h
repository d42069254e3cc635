/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - the code of an image: bytes, instructions, symbols and source lines by address.
 * Layer: resolve. Not thread-safe. All files are untrusted.
 *
 * Addresses are those of a profile (see struct naming_code): link-time addresses for files,
 * run-time addresses for the kernel, its modules and JIT code. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/lines/lines.h"
#include "resolve/symbols/symtab.h"

struct code;
struct err;
struct insn;

/* The location of the code. Everything is copied or opened, except `lines`. */
struct code_where {
	const char *path;
	/* Separate debug file; NULL or "": search as lines.h does. */
	const char *debug_path;
	const char *symbols_path; /* symbols for a stripped file; NULL: none */
	/* Link-time address + shift = address of the profile. */
	uint64_t shift;
	const struct section_address
		*sections; /* for a module: addresses of its sections */
	size_t nr_sections;
	bool is_jitdump;
	/* Code that is not in a file: its bytes, which begin at `start`, ... */
	const uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	const char *machine;               /* ... and its machine (uname -m) */
	const struct lines_options *lines; /* must outlive the code; NULL: no lines */
};

/* Opens the code of an image. Returns 0, -ENOTSUP (no disassembler for its machine), or another
 * negative errno, with a message in *err. */
int code_open(const struct code_where *where, struct code **ret_code, struct err *err);
void code_close(struct code *c); /* accepts NULL */
/* Selects the function of the next addresses, because JIT code can be at an address where other
 * code was before. Also names the function of a BPF program. Has no effect for other code. */
void code_mean(struct code *c, const char *function);
/* Decodes the instruction at an address. Returns 0, or -ENODATA if there is no code. */
int code_insn(struct code *c, uint64_t address, struct insn *ret_insn);
/* Reads up to `len` bytes at an address. Returns their number. */
size_t code_bytes(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len);
/* Returns the symbol that covers an address, and its start in *ret_start; NULL: unknown. */
const struct symbol *code_symbol(const struct code *c, uint64_t address,
				 uint64_t *ret_start);
/* Like code_symbol(), for an address of data: also finds variables, whose names are read at the
 * first call. */
const struct symbol *code_data_symbol(struct code *c, uint64_t address,
				      uint64_t *ret_start);
/* Returns the name of the kernel symbol to which the instruction in [address, end) of a module
 * refers by its relocation; NULL: none. */
const char *code_reference(const struct code *c, uint64_t address, uint64_t end);
/* Returns the section of an address, or "". Borrowed. */
const char *code_section(struct code *c, uint64_t address);
/* Returns objdump's name of the file format, such as "elf64-x86-64"; and the name of the
 * disassembler. */
const char *code_format(const struct code *c);
const char *code_engine(const struct code *c);
/* Like lines_embedded(). */
struct buf;
int code_embedded(struct code *c, const char *path, struct buf *out);
/* Like lines_prepare() and lines_find(); modifies `addresses`. */
void code_prepare_lines(struct code *c, uint64_t *addresses, size_t nr);
size_t code_frames(struct code *c, uint64_t address, struct line_frame *ret_frames,
		   size_t max);
