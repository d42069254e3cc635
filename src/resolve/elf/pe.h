/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pe.h - reads PE files (programs and libraries of Windows, which Wine maps) as if they were ELF
 * files: each section becomes a section and a segment, at the preferred address.
 * Layer: resolve. Every number in the file is untrusted.
 * Source of the format: Microsoft, "PE Format". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct elf_file;
struct err;

enum {
	PE_SECTIONS_MAX = 1024,
	PE_EXPORTS = 0, /* numbers of directories */
	PE_FUNCTIONS = 3,
	PE_DEBUG = 6,
	PE_GUID_BYTES = 16
};

/* Fields of a PE file in addition to those of struct elf_file. */
struct pe_head {
	uint64_t base;    /* preferred address of the image */
	uint64_t symbols; /* file offset of the symbol table; 0: none */
	uint32_t nr_symbols;
	uint32_t nr_directories;
	uint64_t directories; /* file offset */
};

/* Returns whether the file begins like a PE file. */
bool pe_is_image(const struct elf_file *f);
/* Reads the headers into `f`, whose first bytes were already read. Returns 0, or -EBADMSG, -ENOMEM
 * or an I/O error with a message in *err; the caller calls elf_file_done() in any case. */
int pe_init(struct elf_file *f, struct err *err);
/* Gets the address and size of a directory. Returns false if the file has none. */
bool pe_directory(const struct elf_file *f, uint32_t number, uint64_t *ret_vaddr,
		  uint64_t *ret_bytes);

/* Gets the GUID that linkers store for debuggers, in the order of its text form. Returns false if
 * the file has none. */
bool pe_read_guid(const struct elf_file *f, uint8_t ret_guid[PE_GUID_BYTES]);

struct pe_function {
	uint64_t low;
	uint64_t high;
};
typedef VEC(struct pe_function) pe_functions;
/* Appends the functions of the unwind table (.pdata) of an x86-64 file, sorted by address. The
 * table omits functions that do not use the stack. Returns 0 (also if there is no table) or
 * -ENOMEM. */
int pe_read_functions(const struct elf_file *f, pe_functions *ret_functions);
