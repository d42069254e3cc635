/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.h - the debug information of an image, where the naming finds its binary.
 * Layer: resolve.  Rules of proof are those for symbols (resolve/find/binary.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines_options;
struct line_frame;
struct naming;
struct naming_lines;
struct symtab_place;

/* Debug files are wanted, not only symbols: servers are asked for those of binaries that have
 * symbols, too.  Before the first lookup. */
void naming_want_lines(struct naming *n);
/* Opens what is known of the image's lines: two descriptors as long as it is open.  `options`
 * NULL: no debug information is read, only the binary is found.  0 (*ret_lines may be NULL:
 * nothing is known) or -ENOMEM. */
int naming_lines_open(struct naming *n, uint32_t image,
		      const struct lines_options *options,
		      struct naming_lines **ret_lines);
void naming_lines_close(struct naming_lines *nl); /* NULL is fine */
/* As lines_prepare() and lines_find() (resolve/lines/lines.h), for addresses as symtab_vaddr() and
 * struct symbol have them: run-time addresses of the kernel and its modules.  `addrs` is
 * changed. */
void naming_lines_prepare(struct naming_lines *nl, uint64_t *addrs, size_t nr);
size_t naming_lines_find(struct naming_lines *nl, uint64_t addr,
			 struct line_frame *ret_frames, size_t max);
/* The same where the function is known, by its name in the symbol table (NULL: it is not): code
 * of a JIT compiler may have had the address of other code. */
size_t naming_lines_find_in(struct naming_lines *nl, uint64_t addr,
			    const char *function, struct line_frame *ret_frames,
			    size_t max);
/* Behind the last address up to which naming_lines_find() would say what it said last; 0: that is
 * not known. */
uint64_t naming_lines_reach(const struct naming_lines *nl);
/* The source file of the symbol at an address, without its folder, where only the symbol
 * table tells; NULL: unknown. */
const char *naming_lines_symbol_file(struct naming_lines *nl, uint64_t addr);
/* Where the code of an image is: struct code_where (resolve/code/code.h) without its symbols. */
struct naming_code {
	const char *path;
	const char *debug_path; /* a separate debug file; NULL: none */
	uint64_t shift;         /* what link-time addresses lack to be those above */
	/* Of a module: where its sections were; they were moved apart. */
	const struct symtab_place *places;
	size_t nr_places;
	/* Of a BPF program: its code, where it was, and the machine (uname -m). */
	const uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	const char *machine;
};
/* Borrowed, as long as it is open. */
void naming_lines_code(const struct naming_lines *nl, struct naming_code *ret_code);
