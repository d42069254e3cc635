/* file.h - the debug sections of one ELF file, and where its code lies.
 * Layer: resolve.  Read by many threads at once after it was opened.
 *
 * A relocatable file (.o, .ko) has no addresses yet: its sections are laid out one behind
 * the other, from DWARF_REL_BASE on, and the debug sections are relocated to that. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "resolve/dwarf/section.h"
#include "resolve/elf/file.h"

struct err;

enum dwarf_section_kind {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_LINE,
	DWARF_STR,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_CU_INDEX,
	DWARF_SECTIONS
};

enum {
	DWARF_REL_BASE = 0x100000
};

/* A stretch of code by link-time address. */
struct dwarf_code {
	uint64_t low;
	uint64_t high; /* behind its last byte */
};

struct dwarf_file {
	struct elf_file elf;
	bool elf_ok;
	bool is_rel;
	bool is_dwo; /* a .dwo or .dwp: its sections are called .debug_*.dwo */
	uint8_t addr_bytes;
	const char *too_large; /* the name of a section that was left out; NULL: none */
	struct dwarf_section sections[DWARF_SECTIONS];
	VEC(struct dwarf_code)
	code;                 /* executable sections, else segments; by address */
	VEC(uint64_t) placed; /* of a relocatable file: address of each section */
	_Atomic(uint64_t) line_bytes_read; /* of all line programs, each time */
};

/* Opens the debug sections of the ELF file at `fd`, which stays the caller's and open.
 * `dwo`: take the sections of split DWARF.  0 (also when there is no debug section at all:
 * ask dwarf_file_has_info()), -EBADMSG, -ENOMEM, ... */
int dwarf_file_open_fd(struct dwarf_file *f, int fd, bool dwo, struct err *err);
int dwarf_file_open_bytes(struct dwarf_file *f, const void *bytes, size_t len, bool dwo,
			  struct err *err);
void dwarf_file_close(struct dwarf_file *f);
/* Frees what can be read again; no thread may read. */
void dwarf_file_forget(struct dwarf_file *f);
bool dwarf_file_has_info(const struct dwarf_file *f);
/* Whether code can lie at this address: what linkers dropped keeps debug information at 0,
 * 1, or the highest addresses. */
bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr);
/* The address of an offset in the section of that name; NULL: in the first one in memory that
 * is that long.  0 or -ENOENT. */
int dwarf_file_place(struct dwarf_file *f, const char *section, uint64_t off,
		     uint64_t *ret_addr);
