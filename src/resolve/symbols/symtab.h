/* symtab.h - the function symbols of one image, sorted by address.
 * Layer: resolve.  Built once, then read-only: lookups need no lock.
 *
 * Positions are the image's own offsets, as in struct frame (format/session/dict.h): file offsets
 * for ELF files and the vdso, address - start for kernel, modules and BPF. */
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
	uint64_t
		size; /* bytes it covers (a size of 0 in the file: up to the next one) */
	struct elf_vaddr
		vaddr;    /* link-time address; run-time address for kernel symbols */
	const char *name; /* as in the file (mangled); borrowed from the table */
};

/* Symbols of an ELF file on disk: .symtab, and where that is missing .dynsym with what
 * .gnu_debugdata (an ELF file in xz, "minidebuginfo") adds.  Functions
 * (STT_FUNC, STT_GNU_IFUNC) and untyped labels in executable sections; of several at one
 * address the one that perf shows (sized before unsized, global before local before weak,
 * fewer leading underscores, the longer name).  Where machines bend addresses or names:
 * symbol_rules.h; all rules are in docs/symbols.md.  The file may be of any class and byte
 * order, and is hostile until parsed.
 * 0, -ENODATA (an ELF file without symbols; *ret_tab is then an empty table with the
 * segment map), -EBADMSG, or another negative errno. */
int symtab_load_elf(const char *path, struct symtab **ret_tab, struct err *err);
int symtab_load_elf_bytes(const void *bytes, size_t len, struct symtab **ret_tab,
			  struct err *err);
/* The same from a descriptor, which stays the caller's; `positions` says what an offset is. */
enum symtab_positions {
	SYMTAB_FILE_OFFSETS, /* mapped files */
	SYMTAB_ADDRESSES,    /* a kernel whose base is unknown: link-time addresses */
	SYMTAB_FROM_TEXT     /* a kernel: from its _text, else _stext */
};
int symtab_load_elf_fd(int fd, enum symtab_positions positions, struct symtab **ret_tab,
		       struct err *err);
/* A kernel's table whose positions count from where the image began, which is `ref_offset`
 * bytes before its symbol `ref_name` ("_stext"; struct image has both).  -ENODATA also if the
 * file does not have that symbol. */
int symtab_load_kernel_fd(int fd, const char *ref_name, uint64_t ref_offset,
			  struct symtab **ret_tab, struct err *err);
/* Symbols from the separate debug file at `debug_fd` of the binary at `fd`.  The binary's
 * segments count: objcopy --only-keep-debug empties those of the debug file. */
int symtab_load_elf_debug(int fd, int debug_fd, struct symtab **ret_tab,
			  struct err *err);
/* Data (STT_OBJECT) instead of code, of the mapped file at `fd`; `debug_fd` is its separate debug
 * file, -1: none.  What the file does not fill (.bss) lies behind it, as in its mapping. */
int symtab_load_elf_data(int fd, int debug_fd, struct symtab **ret_tab,
			 struct err *err);
/* Symbols of a kernel module from its file (.ko): it is not linked, so the run-time address
 * of each of its sections is needed.  Positions are relative to `start`; vaddr is the
 * run-time address, as with kallsyms.  0, -ENODATA (none; no table then), -EBADMSG, ... */
struct symtab_place {
	const char *section; /* ".text" */
	uint64_t address;
};
int symtab_load_module_fd(int fd, const struct symtab_place *places, size_t nr_places,
			  uint64_t start, struct symtab **ret_tab, struct err *err);
/* Kernel text symbols from /proc/kallsyms text: those without [module] if `module` is
 * NULL, else those of that module ('-' and '_' are one).  Offsets are relative to `start`;
 * symbols below it are left out.  kallsyms knows no sizes: the last symbol goes to where the
 * next section begins, if the places of the module's sections are given (else NULL and 0),
 * at most to the end of the page behind its own.  All of `from` stays the caller's.
 * 0, -ENODATA (none, or the addresses are hidden: no table then), -ENOMEM. */
struct symtab_kallsyms {
	const char *text;
	size_t len;
	const char *module;
	uint64_t start;
	const struct symtab_place *places;
	size_t nr_places;
};
int symtab_load_kallsyms(const struct symtab_kallsyms *from, struct symtab **ret_tab,
			 struct err *err);
/* A table of one symbol at offset 0, for code that is its own symbol.  0 or -ENOMEM. */
int symtab_of_one(const char *name, uint64_t size, uint64_t start,
		  struct symtab **ret_tab);
/* A table of symbols that somebody else has read, in any order.  The names are copied.
 * `run_base`: what symtab_vaddr() adds to an offset.
 * 0, -ENODATA (none: no table then) or -ENOMEM. */
struct symtab_given {
	uint64_t offset;
	uint64_t size; /* 0: up to the next one */
	uint64_t vaddr;
	const char *name;
};
int symtab_of_given(const struct symtab_given *symbols, size_t nr, uint64_t run_base,
		    struct symtab **ret_tab);
/* The symbol covering `offset`, or NULL.  Borrowed until symtab_free(). */
const struct symbol *symtab_find(const struct symtab *tab, uint64_t offset);
/* For many offsets in turn: asks for the memory that symtab_find() looks at first, and, a few
 * offsets later, for what that says. */
void symtab_prefetch(const struct symtab *tab, uint64_t offset);
void symtab_prefetch_ranges(const struct symtab *tab, uint64_t offset);
size_t symtab_count(const struct symtab *tab);
const struct symbol *symtab_at(const struct symtab *tab, size_t i);
/* Link-time address of a file offset (through the program headers); the offset itself if
 * no segment covers it.  Of a kernel's table the address: `start`, or the link-time base,
 * plus the offset. */
struct elf_vaddr symtab_vaddr(const struct symtab *tab, uint64_t offset);
void symtab_free(struct symtab *tab); /* NULL is fine */
