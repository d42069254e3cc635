/* SPDX-License-Identifier: GPL-2.0-or-later */
/* file.h - the debug sections of an ELF file, and the addresses of its code.
 * Layer: resolve. After it is opened, several threads may read it concurrently.
 *
 * A relocatable file (.o, .ko) has no addresses yet. Its sections are placed one after the
 * other, starting at DWARF_REL_BASE, and the debug sections are relocated accordingly. */
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

/* A range of code, in link-time addresses. */
struct dwarf_code {
	uint64_t low;
	uint64_t high; /* the address after its last byte */
};

struct dwarf_file {
	struct elf_file elf;
	bool elf_ok;
	bool is_rel;
	bool is_dwo; /* a .dwo or .dwp: its sections are called .debug_*.dwo */
	uint8_t addr_bytes;
	/* Name of a section that was skipped because of its size; NULL: none. */
	const char *too_large;
	struct dwarf_section sections[DWARF_SECTIONS];
	VEC(struct dwarf_code)
	code; /* executable sections, else segments; by address */
	/* For a relocatable file, by section number: the address of the section or, for a debug
	 * section, its offset in the joined section of this kind. */
	VEC(uint64_t) placed;
	/* Number of bytes of line programs read so far; programs that are read again count
	 * again. */
	_Atomic(uint64_t) line_bytes_read;
};

/* Opens the debug sections of the ELF file at `fd`, which the caller keeps open. `dwo`: use the
 * sections of split DWARF. Returns 0 (also if there are no debug sections: see
 * dwarf_file_has_info()), -EBADMSG, -ENOMEM, or another negative errno. */
int dwarf_file_open_fd(struct dwarf_file *f, int fd, bool dwo, struct err *err);
int dwarf_file_open_bytes(struct dwarf_file *f, const void *bytes, size_t len, bool dwo,
			  struct err *err);
void dwarf_file_close(struct dwarf_file *f);
/* Frees the cached contents of sections, which are read again when they are needed. No thread
 * may read meanwhile. */
void dwarf_file_forget(struct dwarf_file *f);
bool dwarf_file_has_info(const struct dwarf_file *f);
/* Returns whether code can be at this address. Linkers leave the debug information of functions
 * that they removed at address 0, 1, or the highest addresses. */
bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr);
/* Sets *ret_addr to the address of offset `off` in the section with that name. If `section` is
 * NULL, uses the first section that occupies memory and is long enough. Returns 0 or -ENOENT. */
int dwarf_file_position(struct dwarf_file *f, const char *section, uint64_t off,
			uint64_t *ret_addr);
