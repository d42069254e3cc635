/* SPDX-License-Identifier: GPL-2.0-or-later */
/* elf_maker.h - writes small ELF files by hand, in both classes and byte orders, so that a test
 * knows every number in them. Layout: header, one PT_LOAD and one PT_NOTE, note, then sections:
 * 0 null, 1 .text (NOBITS, without bytes), 2 .note, 3 symbols, 4 strings, 5 .data, then those
 * of the test, and after them .shstrtab if there are any (only then do sections have names). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	ELF_MAKER_TEXT = 1, /* section numbers for symbols */
	ELF_MAKER_SYMBOLS = 3,
	ELF_MAKER_STRINGS = 4,
	ELF_MAKER_DATA = 5,
	ELF_MAKER_FIRST_EXTRA = 6,
	ELF_MAKER_VADDR =
		0x401000, /* where the segment of file offset 0x1000 is mapped */
	ELF_MAKER_OFFSET = 0x1000,
	ELF_MAKER_BYTES = 0x1000
};

struct elf_maker_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	unsigned int type; /* STT_... */
	unsigned int bind; /* STB_... */
	unsigned int section;
};

/* A section of the test. If it has an address in the segment, its bytes are at the segment's
 * position for it (then addresses must ascend), otherwise anywhere. */
struct elf_maker_section {
	const char *name;
	unsigned int type;  /* SHT_... */
	unsigned int flags; /* SHF_... */
	uint64_t vaddr;
	const void *bytes;
	size_t len;
	unsigned int link;
	uint64_t entry_bytes;
};

struct elf_maker {
	bool is64;
	bool big_endian;
	bool dynsym;         /* symbols go to .dynsym instead of .symtab */
	bool no_sections;    /* as after sstrip */
	bool extended_count; /* e_shnum 0: the number of sections is in section 0 */
	uint16_t machine;    /* EM_... */
	uint64_t symbol_entry_bytes; /* 0: the correct one */
	const uint8_t *build_id;     /* NULL: no note */
	size_t build_id_len;
	const struct elf_maker_symbol *symbols;
	size_t nr_symbols;
	const uint8_t *others; /* st_other of each symbol; NULL: all 0 */
	const struct elf_maker_section *sections;
	size_t nr_sections;
	/* Address of a segment PT_GNU_EH_FRAME; 0: no such segment. */
	uint64_t eh_frame_hdr;
};

/* Appends the file; the caller owns `out`. */
void elf_maker_write(const struct elf_maker *m, struct buf *out);
