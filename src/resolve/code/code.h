/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.h - the code of an image: bytes, instructions, symbols and source lines by address.
 * Layer: resolve.  Not thread safe.  All files are hostile until parsed.
 *
 * Addresses are those of a profile (struct naming_code says how they come to be): link-time
 * addresses of files, run-time addresses of the kernel, of its modules and of what a JIT compiler
 * made. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/lines/lines.h"
#include "resolve/symbols/symtab.h"

struct code;
struct err;
struct insn;

/* Where it is.  All of it is copied or opened. */
struct code_where {
	const char *path;
	const char *
		debug_path; /* a separate debug file; NULL or "": as lines.h finds it */
	const char *symbols_path; /* of a file without symbols; NULL: nowhere else */
	uint64_t shift;           /* link-time addresses plus this are those below */
	const struct symtab_place *places; /* of a module: where its sections were */
	size_t nr_places;
	bool is_jitdump;
	const uint8_t *bytes; /* in no file: code at `start`, ... */
	size_t nr_bytes;
	uint64_t start;
	const char *machine;               /* ... of this one, as uname -m calls it */
	const struct lines_options *lines; /* outlives the code; NULL: no lines */
};

/* 0, -ENOTSUP (nothing here decodes its machine) or another negative errno, with a line. */
int code_open(const struct code_where *where, struct code **ret_code, struct err *err);
void code_close(struct code *c); /* NULL is fine */
/* Code that a JIT compiler made may lie where other code lay before: this function is meant
 * from now on.  Elsewhere it changes nothing. */
void code_mean(struct code *c, const char *function);
/* The instruction at an address.  0 or -ENODATA: there is no code. */
int code_insn(struct code *c, uint64_t address, struct insn *ret_insn);
/* The same of `len` bytes, as many as there are: how many. */
size_t code_bytes(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len);
/* What covers an address, and *ret_start where it begins; NULL: nothing that is known. */
const struct symbol *code_symbol(const struct code *c, uint64_t address,
				 uint64_t *ret_start);
/* What the instruction in [address, end) of a module refers to elsewhere in the kernel, by its
 * relocation; NULL: nothing. */
const char *code_reference(const struct code *c, uint64_t address, uint64_t end);
/* The section of an address, "" if there is none; borrowed. */
const char *code_section(struct code *c, uint64_t address);
/* As objdump calls it, "elf64-x86-64"; and who decodes it. */
const char *code_format(const struct code *c);
const char *code_engine(const struct code *c);
/* As lines_embedded(). */
struct buf;
int code_embedded(struct code *c, const char *path, struct buf *out);
/* As lines_prepare() and lines_find(); `addresses` is changed. */
void code_prepare_lines(struct code *c, uint64_t *addresses, size_t nr);
size_t code_frames(struct code *c, uint64_t address, struct line_frame *ret_frames,
		   size_t max);
