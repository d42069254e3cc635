/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reloc.c - applies the relocations of a module's code, so that calls and data are shown as
 * they were in memory.
 * Source: the psABIs of x86-64 (4.4), AArch64 (5.7) and s390x (relocation types). */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cursor.h"
#include "resolve/code/priv.h"

enum {
	RELOCS_MAX_BYTES = 1 << 28,
	SYMS_MAX_BYTES = 1 << 28
};

/* How the relocated bytes are computed from S + A, minus P if `relative`. */
static const struct kind {
	uint16_t machine;
	uint16_t type;
	uint8_t bytes;
	bool relative;
	uint8_t shift; /* right shift of the value before it is stored in ... */
	uint64_t mask; /* ... these bits */
} kinds[] = {
	{ EM_X86_64, R_X86_64_PLT32, 4, true, 0, UINT32_MAX },
	{ EM_X86_64, R_X86_64_PC32, 4, true, 0, UINT32_MAX },
	{ EM_X86_64, R_X86_64_32, 4, false, 0, UINT32_MAX },
	{ EM_X86_64, R_X86_64_32S, 4, false, 0, UINT32_MAX },
	{ EM_X86_64, R_X86_64_64, 8, false, 0, UINT64_MAX },
	{ EM_AARCH64, R_AARCH64_CALL26, 4, true, 2, 0x3ffffff },
	{ EM_AARCH64, R_AARCH64_JUMP26, 4, true, 2, 0x3ffffff },
	{ EM_S390, R_390_PC32DBL, 4, true, 1, UINT32_MAX },
	{ EM_S390, R_390_PLT32DBL, 4, true, 1, UINT32_MAX },
};

struct code_reloc_symbols {
	uint8_t *bytes;
	size_t nr;
};

struct code_reloc_reading {
	struct code *c;
	const struct elf_section *syms; /* the symbol table that was read */
	struct code_reloc_symbols symbols;
};

static const struct kind *code_reloc_find_kind(uint16_t machine, uint32_t type)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (kinds[i].machine == machine && kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static const char *name_at(const struct code *c, uint32_t at)
{
	return at < c->strings_len ? c->strings + at : "";
}

static bool code_reloc_place_of(struct code *c, uint16_t section, uint64_t *ret_address)
{
	const char *name;

	if (section >= c->elf.sections.nr)
		return false;
	name = elf_file_section_name(&c->elf, &c->elf.sections.at[section]);
	for (size_t i = 0; i < c->sections.nr; i++) {
		/* Compare pointers: both point to the file's section names. */
		if (c->sections.at[i].section == name) {
			*ret_address = c->sections.at[i].address;
			return true;
		}
	}
	return false;
}

/* Computes a symbol's address. Returns false if it is unknown; *ret_name is its name, or "". */
static bool code_reloc_symbol_value(struct code_reloc_reading *r, uint32_t number,
				    uint64_t *ret_value, const char **ret_name)
{
	struct code *c = r->c;
	struct cursor at;
	uint64_t place;
	uint16_t section;
	uint8_t info;

	*ret_name = "";
	if (number >= r->symbols.nr)
		return false;
	at = cursor_of(r->symbols.bytes + number * sizeof(Elf64_Sym), sizeof(Elf64_Sym),
		       c->elf.swap);
	*ret_name = name_at(c, cursor_u32(&at));
	info = cursor_u8(&at);
	cursor_u8(&at);
	section = cursor_u16(&at);
	*ret_value = cursor_u64(&at);
	if (section && code_reloc_place_of(c, section, &place)) {
		*ret_value += place;
		return true;
	}
	if (ELF64_ST_TYPE(info) == STT_SECTION && section < c->elf.sections.nr)
		*ret_name =
			elf_file_section_name(&c->elf, &c->elf.sections.at[section]);
	return false;
}

static int take_one(struct code_reloc_reading *r, struct cursor *at, uint64_t place)
{
	struct code *c = r->c;
	uint64_t address = place + cursor_u64(at);
	uint64_t info = cursor_u64(at);
	uint64_t addend = cursor_u64(at);
	const struct kind *kind =
		code_reloc_find_kind(c->elf.machine, (uint32_t)ELF64_R_TYPE(info));
	struct code_reloc reloc = { .address = address };
	uint64_t value;
	const char *name;

	if (code_reloc_symbol_value(r, (uint32_t)ELF64_R_SYM(info), &value, &name)) {
		if (!kind)
			return 0;
		value += addend - (kind->relative ? address : 0);
		reloc.bytes = kind->bytes;
		reloc.mask = kind->mask;
		reloc.value = (uint64_t)((int64_t)value >> kind->shift) & kind->mask;
	} else if (*name) {
		reloc.name = name;
	} else {
		return 0;
	}
	return vec_push(&c->relocs, reloc) ? 0 : -ENOMEM;
}

/* Reads the symbol table that the relocations refer to, unless it was already read. */
static int code_reloc_read_symbols(struct code_reloc_reading *r,
				   const struct elf_section *syms)
{
	struct code *c = r->c;
	uint8_t *strings;
	int err;

	if (r->syms)
		return r->syms == syms ? 0 : -EBADMSG;
	if (syms->link >= c->elf.sections.nr)
		return -EBADMSG;
	err = elf_file_section_bytes(&c->elf, syms, SYMS_MAX_BYTES, &r->symbols.bytes);
	if (err)
		return err;
	r->syms = syms;
	r->symbols.nr = (size_t)syms->bytes / sizeof(Elf64_Sym);
	err = elf_file_section_bytes(&c->elf, &c->elf.sections.at[syms->link],
				     SYMS_MAX_BYTES, &strings);
	if (err)
		return err;
	c->strings = (char *)strings; /* followed by a zero byte */
	c->strings_len = (size_t)c->elf.sections.at[syms->link].bytes;
	return 0;
}

static int code_reloc_take_section(struct code_reloc_reading *r,
				   const struct elf_section *rel)
{
	struct code *c = r->c;
	uint64_t place;
	uint8_t *bytes;
	struct cursor at;
	int err;

	if (rel->type != SHT_RELA || rel->link >= c->elf.sections.nr ||
	    rel->info >= c->elf.sections.nr ||
	    !(c->elf.sections.at[rel->info].flags & SHF_EXECINSTR) ||
	    !code_reloc_place_of(c, (uint16_t)rel->info, &place))
		return 0;
	err = code_reloc_read_symbols(r, &c->elf.sections.at[rel->link]);
	if (!err)
		err = elf_file_section_bytes(&c->elf, rel, RELOCS_MAX_BYTES, &bytes);
	if (err)
		return err == -ENOMEM ? err : 0;
	at = cursor_of(bytes, (size_t)rel->bytes, c->elf.swap);
	while (!err && cursor_left(&at) >= sizeof(Elf64_Rela))
		err = take_one(r, &at, place);
	free(bytes);
	return err;
}

static int compare_relocs(const void *x, const void *y)
{
	const struct code_reloc *a = x, *b = y;

	return a->address < b->address ? -1 : a->address > b->address;
}

int code_relocs_read(struct code *c)
{
	struct code_reloc_reading r = { .c = c };
	int err = 0;

	if (!c->elf.is64)
		return 0;
	for (size_t i = 0; !err && i < c->elf.sections.nr; i++)
		err = code_reloc_take_section(&r, &c->elf.sections.at[i]);
	free(r.symbols.bytes);
	if (!err && c->relocs.nr)
		qsort(c->relocs.at, c->relocs.nr, sizeof(*c->relocs.at),
		      compare_relocs);
	return err;
}

static void code_reloc_apply(const struct code_reloc *reloc, uint8_t *bytes, bool big)
{
	for (unsigned int i = 0; i < reloc->bytes; i++) {
		unsigned int shift = 8 * (big ? reloc->bytes - 1 - i : i);
		uint8_t mask = (uint8_t)(reloc->mask >> shift);

		bytes[i] = (uint8_t)((bytes[i] & ~mask) |
				     ((reloc->value >> shift) & mask));
	}
}

size_t code_relocs_from(const struct code *c, uint64_t address)
{
	size_t low = 0, high = c->relocs.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->relocs.at[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void code_relocs_apply(const struct code *c, uint64_t address, uint8_t *bytes,
		       size_t len)
{
	bool big = c->elf.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	for (size_t i = code_relocs_from(c, address); i < c->relocs.nr; i++) {
		const struct code_reloc *reloc = &c->relocs.at[i];
		uint64_t at = reloc->address - address;

		if (at >= len)
			break;
		if (reloc->mask && len - at >= reloc->bytes)
			code_reloc_apply(reloc, bytes + at, big);
	}
}
