/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symtab.h - the function symbols of an image, sorted by address.
 * Layer: resolve. Built once, then read-only: lookups need no lock.
 *
 * Positions are the image's own offsets, as in struct frame (format/session/dict.h): file
 * offsets for ELF files and the vdso, address - start for kernel, modules and BPF. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "format/session/dict.h"

struct err;
struct symtab;

struct symbol {
	uint64_t offset; /* of its first byte */
	uint64_t size; /* bytes it covers (size 0 in the file: up to the next symbol) */
	struct elf_vaddr
		vaddr;    /* link-time address; run-time address for kernel symbols */
	const char *name; /* as in the file (mangled); owned by the table */
};

/* Reads the symbols of an ELF file: .symtab; if it is missing, .dynsym and .gnu_debugdata (an
 * ELF file in xz, "minidebuginfo") or, without that section, the table of a Go program. Also
 * reads PE files. Includes functions (STT_FUNC, STT_GNU_IFUNC) and untyped labels in executable
 * sections. Of several symbols at one address, keeps the one that perf shows (sized before
 * unsized, global before local before weak, fewer leading underscores, the longer name). For
 * machine-specific addresses and names see symbol_rules.h; all rules are in docs/symbols.md. The
 * file can have any class and byte order, and is untrusted.
 * Returns 0; -ENODATA if the file has no symbols (*ret_tab is then an empty table with the
 * segments); -EBADMSG; or another negative errno. */
int symtab_load_elf(const char *path, struct symtab **ret_tab, struct err *err);
int symtab_load_elf_bytes(const void *bytes, size_t len, struct symtab **ret_tab,
			  struct err *err);
/* Like symtab_load_elf(), for a descriptor, which the caller keeps. `positions` defines the meaning
 * of offsets. */
enum symtab_positions {
	SYMTAB_FILE_OFFSETS, /* mapped files */
	SYMTAB_ADDRESSES,    /* a kernel whose base is unknown: link-time addresses */
	SYMTAB_FROM_TEXT,    /* a kernel: relative to its _text, else _stext */
	/* mapped files, with the symbols that OProfile shows: each ends at the next one or with its
	 * section; of several at one address, one without a leading underscore, then one that is
	 * not weak, then the first */
	SYMTAB_AS_OPROFILE
};
int symtab_load_elf_fd(int fd, enum symtab_positions positions, struct symtab **ret_tab,
		       struct err *err);
/* Reads a kernel's symbols. Positions are relative to the start of the image, which is
 * `ref_offset` bytes before its symbol `ref_name` ("_stext"; struct image has both). Also
 * returns -ENODATA if the file does not have this symbol. */
int symtab_load_kernel_fd(int fd, const char *ref_name, uint64_t ref_offset,
			  struct symtab **ret_tab, struct err *err);
/* Reads the symbols from the debug file `debug_fd` of the mapped file `fd`. Uses the segments of
 * the binary, because objcopy --only-keep-debug empties those of the debug file. Returns the same
 * as symtab_load_elf(). */
int symtab_load_elf_debug(int fd, int debug_fd, enum symtab_positions positions,
			  struct symtab **ret_tab, struct err *err);
/* Reads data symbols (STT_OBJECT) instead of functions, from the mapped file `fd`; `debug_fd` is
 * its debug file, -1: none. Positions in .bss follow the file's content, as in its mapping.
 * Returns the same as symtab_load_elf(). */
int symtab_load_elf_data(int fd, int debug_fd, struct symtab **ret_tab,
			 struct err *err);
/* Reads the symbols of a kernel module from its file (.ko). The file is not linked, so the
 * caller passes the run-time address of each section. Positions are relative to `start`; vaddr
 * is the run-time address, as with kallsyms. Returns 0, -ENODATA (no symbols, *ret_tab is not
 * set), -EBADMSG, or another negative errno. */
struct section_address {
	const char *section; /* ".text" */
	uint64_t address;
};
int symtab_load_module_fd(int fd, const struct section_address *sections,
			  size_t nr_sections, uint64_t start, struct symtab **ret_tab,
			  struct err *err);
/* Reads kernel text symbols from the text of /proc/kallsyms: those without [module] if `module`
 * is NULL, else those of that module ('-' and '_' are treated as the same character). Offsets
 * are relative to `start`; symbols below it are skipped. kallsyms has no sizes: the last symbol
 * ends where the next section begins, if the addresses of the module's sections are given (else
 * NULL and 0), and at most at the end of the page after its own. The caller keeps everything in
 * `from`. Returns 0, -ENODATA (no symbols or hidden addresses, *ret_tab is not set) or -ENOMEM. */
struct symtab_kallsyms {
	const char *text;
	size_t len;
	const char *module;
	uint64_t start;
	const struct section_address *sections;
	size_t nr_sections;
};
int symtab_load_kallsyms(const struct symtab_kallsyms *from, struct symtab **ret_tab,
			 struct err *err);
/* Makes a table of a single symbol at offset 0. Returns 0 or -ENOMEM. */
int symtab_of_one(const char *name, uint64_t size, uint64_t start,
		  struct symtab **ret_tab);
/* Makes a table of the given symbols, in any order. Copies the names. symtab_vaddr() adds
 * `run_base` to offsets. Returns 0, -ENODATA (no symbols, *ret_tab is not set) or -ENOMEM. */
struct symtab_given {
	uint64_t offset;
	uint64_t size; /* 0: up to the next symbol */
	uint64_t vaddr;
	const char *name;
};
int symtab_of_given(const struct symtab_given *symbols, size_t nr, uint64_t run_base,
		    struct symtab **ret_tab);
/* Returns the symbol that covers `offset`, or NULL. Valid until symtab_free(). */
const struct symbol *symtab_find(const struct symtab *tab, uint64_t offset);
/* Speed up many lookups: the caller calls the first function for an offset, the second a few
 * offsets later, and symtab_find() after that. They prefetch the memory that symtab_find()
 * reads first and second. */
void symtab_prefetch(const struct symtab *tab, uint64_t offset);
void symtab_prefetch_ranges(const struct symtab *tab, uint64_t offset);
/* Returns the number of symbols. */
size_t symtab_count(const struct symtab *tab);
/* Returns symbol number `i`, or NULL after the last one. */
const struct symbol *symtab_at(const struct symtab *tab, size_t i);
/* Returns another name of a symbol of the table, at the same address; NULL after the last one. */
const char *symtab_alias(const struct symtab *tab, const struct symbol *symbol,
			 size_t i);
/* Returns the link-time address of a file offset (using the program headers), or the offset
 * itself if no segment covers it. For a kernel's table, returns the address: `start`, or the
 * link-time base, plus the offset. */
struct elf_vaddr symtab_vaddr(const struct symtab *tab, uint64_t offset);
void symtab_free(struct symtab *tab); /* accepts NULL */
