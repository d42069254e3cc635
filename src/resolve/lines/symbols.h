/* symbols.h - the function symbols of a binary in the compact form of the index: all
 * names of an address, for frames of which debug information does not say enough.
 * Layer: resolve.  (Reports name samples by resolve/symbols/symtab.h.) */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct dwarf_file;
struct elf_file;

/* Appends the block made of .symtab, else .dynsym, of `f` (its sections are read).
 * `place`: where a relocatable file's sections are put (NULL: no relocatable file).
 * 0, -ENODATA (none) or -ENOMEM, ... */
int line_symbols_make(struct elf_file *f, const struct dwarf_file *place,
		      struct buf *out);

/* A block that was checked. */
struct line_symbols {
	const uint8_t *entries;
	uint32_t nr;
	const char *strings;
	uint32_t strings_len;
	uint32_t
		last; /* what was found last: most questions are about its neighbours */
};

struct line_symbol {
	uint64_t addr;
	uint64_t size;
	const char *name;
	const char *file; /* of a local one: the source file's name; NULL: unknown */
};

/* 0 or -EBADMSG. */
int line_symbols_open(struct line_symbols *s, const void *bytes, size_t len);
/* The symbol that begins nearest before `addr` and covers it; of several names of one
 * address `wanted` (may be NULL) if it is among them, else the first one in the file.
 * False if there is none. */
bool line_symbols_find(struct line_symbols *s, uint64_t addr, const char *wanted,
		       struct line_symbol *ret);
