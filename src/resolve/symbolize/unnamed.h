/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unnamed.h - names for code without symbols in an ELF file: PLT entries are "name@plt",
 * functions without a name "0xSTART" (from their unwind entry), sections without symbols
 * "anonymous symbol from section NAME", as in OProfile.
 * Layer: resolve. Not thread-safe: names are cached. Parts of the file are read when a position
 * first needs them. */
#pragma once
#include <stdint.h>

struct elf_file;
struct symbol;
struct symtab;
struct unnamed;

enum unnamed_kind {
	UNNAMED_NAMED,    /* a real name: a PLT entry, or a symbol of the table */
	UNNAMED_FUNCTION, /* "0xSTART" */
	UNNAMED_SECTION
};

enum unnamed_part {
	UNNAMED_READ_NOTHING, /* everything needed has been read */
	UNNAMED_READ_PLT,
	UNNAMED_READ_UNWIND
};

/* Reads only the section headers. `tab` has the file's symbols (possibly none) and must outlive
 * the object. The caller owns *ret_unnamed. Returns 0, -ENOMEM, -EBADMSG or an I/O error. */
int unnamed_new(struct elf_file *f, const struct symtab *tab,
		struct unnamed **ret_unnamed);
void unnamed_free(struct unnamed *u); /* accepts NULL */
/* Returns the part to read before unnamed_find() can be used for this file offset. */
enum unnamed_part unnamed_needs(const struct unnamed *u, uint64_t offset);
/* Reads a part from the same file. A part that cannot be read is treated as empty. Returns 0 or
 * -ENOMEM. */
int unnamed_read(struct unnamed *u, struct elf_file *f, enum unnamed_part part);
/* Returns a symbol for a position that `tab` does not cover; NULL: nothing known, or out of
 * memory. Valid until unnamed_free(), and always the same pointer for the same symbol. */
const struct symbol *unnamed_find(struct unnamed *u, uint64_t offset,
				  enum unnamed_kind *ret_kind);
/* Returns the name of the executable section at this position, or "". */
const char *unnamed_section(const struct unnamed *u, uint64_t offset);
