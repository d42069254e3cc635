/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.h - opens the debug information of an image, whose binary the symbolizer finds.
 * Layer: resolve. The rules for verifying files are those for symbols (resolve/find/binary.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_options;
struct line_frame;
struct naming;
struct naming_lines;
struct section_address;

/* Requests debug files for line numbers: also queries servers for the debug files of binaries that
 * have symbols. Call it before the first lookup. */
void naming_want_lines(struct naming *n);
/* Opens the debug information of an image; uses two descriptors while it is open. If `options`
 * is NULL, finds the binary, but reads no debug information. Returns 0 (*ret_lines is NULL if
 * nothing is known) or -ENOMEM. */
int naming_lines_open(struct naming *n, uint32_t image,
		      const struct lines_options *options,
		      struct naming_lines **ret_lines);
void naming_lines_close(struct naming_lines *nl); /* accepts NULL */
/* Like lines_prepare() and lines_find() (resolve/lines/lines.h), but for the addresses of
 * symtab_vaddr() and struct symbol: run-time addresses for the kernel and its modules. Modifies
 * `addrs`. */
void naming_lines_prepare(struct naming_lines *nl, uint64_t *addrs, size_t nr);
size_t naming_lines_find(struct naming_lines *nl, uint64_t addr,
			 struct line_frame *ret_frames, size_t max);
/* Like naming_lines_find(), for an address in the function with this name in the symbol table
 * (NULL: unknown): JIT code can be at an address where other code was. */
size_t naming_lines_find_in(struct naming_lines *nl, uint64_t addr,
			    const char *function, struct line_frame *ret_frames,
			    size_t max);
/* Returns the end of the addresses for which naming_lines_find() would return its last result;
 * 0: unknown. */
uint64_t naming_lines_reach(const struct naming_lines *nl);
/* Returns the name of the source file (without directory) of the symbol at an address, if only
 * the symbol table contains it; NULL: unknown. */
const char *naming_lines_symbol_file(struct naming_lines *nl, uint64_t addr);
/* The location of an image's code: struct code_where (resolve/code/code.h) without symbols. */
struct naming_code {
	const char *path;
	const char *debug_path; /* separate debug file; NULL: none */
	/* Link-time address + shift = address in the sense of naming_lines_find(). */
	uint64_t shift;
	/* For a module: the addresses of its sections; each was placed separately by the kernel. */
	const struct section_address *sections;
	size_t nr_sections;
	/* For a BPF program: its code, its address, and the machine (uname -m). */
	const uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	const char *machine;
};
/* Valid as long as `nl` is open. */
void naming_lines_code(const struct naming_lines *nl, struct naming_code *ret_code);
