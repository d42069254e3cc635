/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols.h - the function symbols of a binary in the compact format of the index, with all
 * names of an address, for frames without sufficient debug information.
 * Layer: resolve. (Reports symbolize samples with resolve/symbols/symtab.h.) */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct dwarf_file;
struct elf_file;

/* Appends a block made of .symtab, else .dynsym, of `f` (whose section headers are read).
 * `position` contains the addresses of a relocatable file's sections (NULL: not relocatable).
 * Returns 0, -ENODATA (none), -ENOMEM or another negative errno. */
int line_symbols_make(struct elf_file *f, const struct dwarf_file *position,
		      struct buf *out);

/* A block that was checked. */
struct line_symbols {
	const uint8_t *entries;
	uint32_t nr;
	const char *strings;
	uint32_t strings_len;
	uint32_t last; /* index of the last result, because most lookups are near it */
};

struct line_symbol {
	uint64_t addr;
	uint64_t size;
	const char *name;
	/* For a local symbol: name of the source file; NULL: unknown. */
	const char *file;
};

/* Checks a block. Returns 0 or -EBADMSG. */
int line_symbols_open(struct line_symbols *s, const void *bytes, size_t len);
/* Finds the last symbol that begins at or before `addr` and covers it. Of several names at one
 * address, returns `wanted` (may be NULL) if it is among them, else the first one in the file.
 * Returns false if not found. */
bool line_symbols_find(struct line_symbols *s, uint64_t addr, const char *wanted,
		       struct line_symbol *ret);
