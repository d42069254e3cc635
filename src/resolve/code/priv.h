/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - what the files of the code of images share.
 * Layer: resolve, for code*.c alone. */
#pragma once
#include "base/containers/vec.h"
#include "base/files/mapped.h"
#include "format/jit/jitdump.h"
#include "resolve/code/code.h"
#include "resolve/elf/file.h"

enum {
	CODE_WINDOW = 4096 /* bytes that are read at once */
};

/* A relocation of a module's code. */
struct code_reloc {
	uint64_t address;
	uint64_t mask;  /* bits that it changes; 0: it is not known how, or to what */
	uint64_t value; /* what they become */
	const char *
		name; /* of what it refers to, if its address is not known; else NULL */
	uint8_t bytes;
};

struct code {
	const struct code_kind *kind;
	int fd;
	bool has_elf;
	struct elf_file elf;
	struct symtab *tab;
	struct symtab *plt;
	struct insn_decoder *decoder;
	struct insn_marks *marks; /* of code_elf; NULL: all is code */
	uint64_t shift;
	/* Of a module. */
	VEC(struct symtab_place) places;
	VEC(struct code_reloc) relocs; /* by address */
	char *strings;                 /* names of its symbols */
	size_t strings_len;
	/* Of a JIT compiler's dump. */
	struct mapped dump_bytes;
	struct jitdump dump;
	bool has_dump;
	char *meant;
	struct jit_lines *jit_lines;
	/* In no file. */
	uint8_t *bytes;
	size_t nr_bytes;
	uint64_t start;
	/* Lines. */
	const struct lines_options *options;
	char *path;
	char *debug_path;
	int debug_fd;
	struct lines *lines;
	bool lines_tried;
	/* What was read last. */
	uint8_t window[CODE_WINDOW];
	uint64_t window_at;
	size_t window_len;
};

/* What differs from kind to kind. */
struct code_kind {
	int (*begin)(struct code *c, const struct code_where *where, struct err *err);
	/* Up to `len` bytes at an address: how many, 0 if there are none. */
	size_t (*read)(struct code *c, uint64_t address, uint8_t *ret_bytes,
		       size_t len);
	const struct symbol *(*symbol)(const struct code *c, uint64_t address,
				       uint64_t *ret_start);
	const char *(*section)(struct code *c, uint64_t address);
	/* The address that lines.h knows; NULL: it knows none. */
	bool (*line_address)(struct code *c, uint64_t address, uint64_t *ret_address);
};
extern const struct code_kind code_elf;
extern const struct code_kind code_module;
extern const struct code_kind code_jit;
extern const struct code_kind code_bytes_kind;

/* Fills c->relocs of a module whose sections are in c->places.  0 or -ENOMEM: what is damaged is
 * left out. */
int code_relocs_read(struct code *c);
/* The first one at an address or behind it. */
size_t code_relocs_from(const struct code *c, uint64_t address);
/* Applies them to `len` bytes that are at an address. */
void code_relocs_apply(const struct code *c, uint64_t address, uint8_t *bytes,
		       size_t len);

/* Opens c->fd as an ELF file, and what decodes its machine. */
int code_open_elf(struct code *c, const char *path, struct err *err);
/* The frame of an address of code_jit: 1 or 0. */
size_t code_jit_frames(struct code *c, uint64_t address, struct line_frame *ret_frame);
/* The lines, opened; NULL: there are none. */
struct lines *code_lines(struct code *c);
