/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unnamed.h - names for code that the symbols of an ELF file do not reach: entries of the
 * PLT as "name@plt", functions without a name as "0xSTART" of their unwind entry, sections
 * without any symbol as OProfile's "anonymous symbol from section NAME".
 * Layer: resolve.  Not thread safe: made names are kept.  Parts of the file are read when
 * a position first needs them. */
#pragma once
#include <stdint.h>

struct elf_file;
struct symbol;
struct symtab;
struct unnamed;

enum unnamed_kind {
	UNNAMED_NAMED, /* a real name: an entry of the PLT, or a symbol of the table */
	UNNAMED_FUNCTION, /* "0xSTART" */
	UNNAMED_SECTION
};

enum unnamed_part {
	UNNAMED_READ_NOTHING, /* all that is needed is there */
	UNNAMED_READ_PLT,
	UNNAMED_READ_UNWIND
};

/* Reads the sections alone.  `tab` has the file's symbols and outlives it; it may be empty.
 * The caller owns *ret_unnamed.  0, -ENOMEM, -EBADMSG or an I/O error. */
int unnamed_new(struct elf_file *f, const struct symtab *tab,
		struct unnamed **ret_unnamed);
void unnamed_free(struct unnamed *u); /* NULL is fine */
/* What has to be read before unnamed_find() knows all about this position (file offset). */
enum unnamed_part unnamed_needs(const struct unnamed *u, uint64_t offset);
/* Reads it, from the same file.  A part that cannot be read counts as empty from then on.
 * 0 or -ENOMEM. */
int unnamed_read(struct unnamed *u, struct elf_file *f, enum unnamed_part part);
/* What is at a position that no symbol of `tab` covers; NULL: nothing known, or no memory.
 * Borrowed until unnamed_free(), the same pointer for the same thing. */
const struct symbol *unnamed_find(struct unnamed *u, uint64_t offset,
				  enum unnamed_kind *ret_kind);
/* The name of the executable section at this position, "" if the file names none. */
const char *unnamed_section(const struct unnamed *u, uint64_t offset);
