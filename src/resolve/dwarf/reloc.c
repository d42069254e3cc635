/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/reloc.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cursor.h"
#include "resolve/dwarf/file.h"

enum {
	RELOCS_MAX_BYTES = 1 << 30,
	SYMS_MAX_BYTES = 1 << 28
};

enum reloc_op {
	OP_SET, /* symbol + addend */
	OP_ADD, /* the result is added to the existing value */
	OP_SUB
};

struct reloc_kind {
	uint16_t machine;
	uint16_t type;
	uint8_t bytes;
	uint8_t op;
};

static const struct reloc_kind kinds[] = {
	{ EM_X86_64, R_X86_64_64, 8, OP_SET },
	{ EM_X86_64, R_X86_64_32, 4, OP_SET },
	{ EM_X86_64, R_X86_64_32S, 4, OP_SET },
	{ EM_386, R_386_32, 4, OP_SET },
	{ EM_AARCH64, R_AARCH64_ABS64, 8, OP_SET },
	{ EM_AARCH64, R_AARCH64_ABS32, 4, OP_SET },
	{ EM_ARM, R_ARM_ABS32, 4, OP_SET },
	{ EM_PPC64, R_PPC64_ADDR64, 8, OP_SET },
	{ EM_PPC64, R_PPC64_ADDR32, 4, OP_SET },
	{ EM_PPC, R_PPC_ADDR32, 4, OP_SET },
	{ EM_PPC, R_PPC_UADDR32, 4, OP_SET },
	{ EM_S390, R_390_64, 8, OP_SET },
	{ EM_S390, R_390_32, 4, OP_SET },
	{ EM_MIPS, R_MIPS_32, 4, OP_SET },
	{ EM_MIPS, R_MIPS_64, 8, OP_SET },
	{ EM_SPARCV9, R_SPARC_64, 8, OP_SET },
	{ EM_SPARCV9, R_SPARC_UA64, 8, OP_SET },
	{ EM_SPARCV9, R_SPARC_32, 4, OP_SET },
	{ EM_SPARCV9, R_SPARC_UA32, 4, OP_SET },
	{ EM_RISCV, R_RISCV_32, 4, OP_SET },
	{ EM_RISCV, R_RISCV_64, 8, OP_SET },
	{ EM_RISCV, R_RISCV_SET8, 1, OP_SET },
	{ EM_RISCV, R_RISCV_SET16, 2, OP_SET },
	{ EM_RISCV, R_RISCV_SET32, 4, OP_SET },
	{ EM_RISCV, R_RISCV_ADD8, 1, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD16, 2, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD32, 4, OP_ADD },
	{ EM_RISCV, R_RISCV_ADD64, 8, OP_ADD },
	{ EM_RISCV, R_RISCV_SUB8, 1, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB16, 2, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB32, 4, OP_SUB },
	{ EM_RISCV, R_RISCV_SUB64, 8, OP_SUB },
};

struct relocs {
	struct dwarf_file *f;
	uint8_t *syms;
	size_t nr_syms;
	size_t sym_bytes;
	uint8_t *rels;
	size_t nr_rels;
	size_t rel_bytes;
	bool rela;
};

static const struct reloc_kind *dwarf_reloc_find_kind(unsigned int machine,
						      unsigned int type)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (kinds[i].machine == machine && kinds[i].type == type)
			return &kinds[i];
	}
	return NULL;
}

/* Returns the address of a symbol: the address of its section plus its offset there. */
static uint64_t dwarf_reloc_symbol_value(const struct relocs *r, uint32_t number)
{
	const struct dwarf_file *f = r->f;
	struct cursor c;
	uint16_t section;
	uint64_t value;

	if (number >= r->nr_syms)
		return 0;
	c = cursor_of(r->syms + number * r->sym_bytes, r->sym_bytes, f->elf.swap);
	cursor_u32(&c); /* st_name */
	if (f->elf.is64) {
		cursor_u16(&c); /* st_info, st_other */
		section = cursor_u16(&c);
		value = cursor_u64(&c);
	} else {
		value = cursor_u32(&c);
		cursor_u32(&c); /* st_size */
		cursor_u16(&c);
		section = cursor_u16(&c);
	}
	return section < f->placed.nr ? value + f->placed.at[section] : value;
}

static uint64_t get_bytes(const uint8_t *at, unsigned int nr, bool swap)
{
	struct cursor c = cursor_of(at, nr, swap);

	switch (nr) {
	case 1:
		return cursor_u8(&c);
	case 2:
		return cursor_u16(&c);
	case 4:
		return cursor_u32(&c);
	default:
		return cursor_u64(&c);
	}
}

static void dwarf_reloc_put_bytes(uint8_t *at, unsigned int nr, bool big_endian,
				  uint64_t v)
{
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int shift = 8 * (big_endian ? nr - 1 - i : i);

		at[i] = (uint8_t)(v >> shift);
	}
}

static void apply_one(const struct relocs *r, struct cursor *c, uint8_t *bytes,
		      uint64_t len)
{
	const struct elf_file *elf = &r->f->elf;
	bool big = elf->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint64_t off = elf->is64 ? cursor_u64(c) : cursor_u32(c);
	uint64_t info = elf->is64 ? cursor_u64(c) : cursor_u32(c);
	uint64_t addend = 0;
	uint64_t value;
	const struct reloc_kind *kind;
	uint32_t symbol = (uint32_t)(elf->is64 ? info >> 32 : info >> 8);
	uint32_t type = (uint32_t)(elf->is64 ? info & 0xffffffff : info & 0xff);

	if (r->rela)
		addend = elf->is64 ? cursor_u64(c) : (uint64_t)(int32_t)cursor_u32(c);
	/* Little-endian 64-bit MIPS has its own order of the fields in r_info. */
	if (elf->machine == EM_MIPS && elf->is64 && !big) {
		symbol = (uint32_t)info;
		type = (uint32_t)(info >> 56);
	}
	kind = dwarf_reloc_find_kind(elf->machine, type);
	if (!kind || off > len || kind->bytes > len - off)
		return;
	value = dwarf_reloc_symbol_value(r, symbol) + addend;
	if (kind->op == OP_ADD || kind->op == OP_SUB) {
		uint64_t old = get_bytes(bytes + off, kind->bytes, elf->swap);

		value = kind->op == OP_ADD ? old + value : old - value;
	} else if (!r->rela) {
		value += get_bytes(bytes + off, kind->bytes, elf->swap);
	}
	dwarf_reloc_put_bytes(bytes + off, kind->bytes, big, value);
}

static int dwarf_reloc_read_tables(struct relocs *r, const struct elf_section *rel)
{
	const struct elf_file *elf = &r->f->elf;
	const struct elf_section *syms;
	int err;

	r->rela = rel->type == SHT_RELA;
	r->rel_bytes = elf->is64 ? (r->rela ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel))
				 : (r->rela ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel));
	r->sym_bytes = elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	if (rel->link >= elf->sections.nr)
		return -EBADMSG;
	syms = &elf->sections.at[rel->link];
	err = elf_file_section_bytes(elf, rel, RELOCS_MAX_BYTES, &r->rels);
	if (err)
		return err;
	r->nr_rels = (size_t)rel->bytes / r->rel_bytes;
	err = elf_file_section_bytes(elf, syms, SYMS_MAX_BYTES, &r->syms);
	if (!err)
		r->nr_syms = (size_t)syms->bytes / r->sym_bytes;
	return err;
}

int dwarf_reloc_apply(struct dwarf_file *f, const struct elf_section *rel,
		      unsigned int kind)
{
	struct dwarf_section *s = &f->sections[kind];
	struct relocs relocs = { .f = f };
	/* The offset of the section in the joined section; not 0 if it was appended to another
	 * one. */
	uint64_t off = f->placed.at[rel->info];
	int r = off < s->bytes ? dwarf_section_load(s) : -EBADMSG;

	if (!r)
		r = dwarf_reloc_read_tables(&relocs, rel);
	for (size_t i = 0; !r && i < relocs.nr_rels; i++) {
		struct cursor c = cursor_of(relocs.rels + i * relocs.rel_bytes,
					    relocs.rel_bytes, f->elf.swap);

		apply_one(&relocs, &c, s->whole + off, s->bytes - off);
	}
	free(relocs.rels);
	free(relocs.syms);
	return r;
}
