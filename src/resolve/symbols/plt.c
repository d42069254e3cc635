/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbols/plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/containers/sort_keys.h"
#include "base/cursor.h"
#include "base/err.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/symtab_priv.h"

enum {
	PLT_MAX_BYTES = 1 << 24,     /* limit for one table */
	TABLE_MAX_BYTES = 1 << 28,   /* limit for relocations, symbols, names */
	NAMES_MAX_BYTES = 256 << 20, /* limit for all entries together */
	X86_ENTRY_BYTES = 16,
	X86_SHORT_ENTRY_BYTES = 8, /* .plt.got without endbr */
	ARM64_ENTRY_BYTES = 16,
	ARM64_WORD = 4,
	ARM_ENTRY_BYTES = 12,
	ARM_WORD = 4,
	S390_ENTRY_BYTES = 32,
	RISCV_ENTRY_BYTES = 16,
	RISCV_WORD = 4
};

static const char suffix[] = "@plt";

/* A slot of the global offset table, and the symbol whose address it contains. */
struct plt_slot {
	uint64_t vaddr;
	uint32_t symbol;
};

struct plt_entry {
	uint64_t offset; /* in the file */
	uint64_t vaddr;
	uint64_t bytes;
	size_t name; /* offset in plt.names */
};

struct plt {
	struct elf_file *f;
	VEC(struct plt_slot) slots; /* sorted by address */
	uint8_t *symbols;           /* .dynsym */
	uint64_t symbols_bytes;
	char *strings; /* string table of .dynsym */
	uint64_t strings_bytes;
	uint64_t got; /* .got.plt: i386 slots are relative to it */
	VEC(struct plt_entry) entries;
	struct buf names;
};

static int take_slots(struct plt *p, const struct elf_section *s)
{
	bool is64 = p->f->is64;
	bool has_addend = s->type == SHT_RELA;
	size_t entry = (is64 ? 16 : 8) + (has_addend ? (is64 ? 8 : 4) : 0);
	uint8_t *bytes;
	int r = elf_file_section_bytes(p->f, s, TABLE_MAX_BYTES, &bytes);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (uint64_t at = 0; !r && s->bytes - at >= entry; at += entry) {
		struct cursor c = cursor_of(bytes + at, entry, p->f->swap);
		struct plt_slot slot;

		slot.vaddr = is64 ? cursor_u64(&c) : cursor_u32(&c);
		slot.symbol =
			is64 ? (uint32_t)(cursor_u64(&c) >> 32) : cursor_u32(&c) >> 8;
		if (slot.symbol && !vec_push(&p->slots, slot))
			r = -ENOMEM;
	}
	free(bytes);
	return r;
}

static int sort_slots(struct plt *p)
{
	size_t nr = p->slots.nr;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		keys[i] = (struct sort_key){ p->slots.at[i].vaddr,
					     p->slots.at[i].symbol };
	r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++)
		p->slots.at[i] = (struct plt_slot){ keys[i].at, keys[i].index };
	free(keys);
	return r;
}

/* Returns the name of the symbol in the slot at `vaddr`, or NULL. */
static const char *name_in_slot(const struct plt *p, uint64_t vaddr)
{
	size_t bytes = p->f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t low = 0;
	size_t high = p->slots.nr;
	struct cursor c;
	uint32_t name;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->slots.at[mid].vaddr < vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == p->slots.nr || p->slots.at[low].vaddr != vaddr)
		return NULL;
	if (p->slots.at[low].symbol >= p->symbols_bytes / bytes)
		return NULL;
	c = cursor_of(p->symbols + p->slots.at[low].symbol * bytes, bytes, p->f->swap);
	name = cursor_u32(&c);
	/* The strings are followed by a zero byte. */
	return name && name < p->strings_bytes ? p->strings + name : NULL;
}

static int plt_add_entry(struct plt *p, const struct elf_section *s, uint64_t at,
			 uint64_t bytes, uint64_t slot)
{
	const char *name = name_in_slot(p, slot);
	struct plt_entry e = { s->offset + at, s->vaddr + at, bytes, p->names.len };

	if (!name || !*name || p->names.len > NAMES_MAX_BYTES)
		return 0;
	buf_put(&p->names, name, strlen(name));
	buf_put(&p->names, suffix, sizeof(suffix));
	return !p->names.failed && vec_push(&p->entries, e) ? 0 : -ENOMEM;
}

static uint32_t plt_le32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* Decodes "jmp *slot" of x86 at the start of an entry, or after endbr and the bnd prefix.
 * Returns whether it is there, and its slot. */
static bool x86_slot(const struct plt *p, const uint8_t *at, size_t bytes,
		     uint64_t vaddr, uint64_t *ret_slot)
{
	size_t pos = 0;
	uint32_t operand;

	if (bytes >= 4 && at[0] == 0xf3 && at[1] == 0x0f && at[2] == 0x1e)
		pos = 4; /* endbr64, endbr32 */
	if (pos < bytes && at[pos] == 0xf2)
		pos++;
	if (bytes - pos < 6 || at[pos] != 0xff)
		return false;
	operand = plt_le32(at + pos + 2);
	if (p->f->machine == EM_X86_64 && at[pos + 1] == 0x25)
		*ret_slot = vaddr + pos + 6 + (uint64_t)(int32_t)operand;
	else if (p->f->machine == EM_386 && at[pos + 1] == 0x25)
		*ret_slot = operand;
	else if (p->f->machine == EM_386 && at[pos + 1] == 0xa3)
		*ret_slot = (uint32_t)(p->got + operand);
	else
		return false;
	return true;
}

static int x86_entries(struct plt *p, const struct elf_section *s, const uint8_t *bytes)
{
	size_t step = s->entry_bytes == X86_SHORT_ENTRY_BYTES ? X86_SHORT_ENTRY_BYTES
							      : X86_ENTRY_BYTES;
	int r = 0;

	for (uint64_t at = 0; !r && at < s->bytes; at += step) {
		uint64_t left = s->bytes - at;
		size_t here = left < step ? (size_t)left : step;
		uint64_t slot;

		if (x86_slot(p, bytes + at, here, s->vaddr + at, &slot))
			r = plt_add_entry(p, s, at, here, slot);
	}
	return r;
}

/* Decodes adrp x16, page; ldr x17, [x16, #offset]. Instructions are always little-endian. Returns
 * false for other instructions. */
static bool arm64_slot(const uint8_t *at, uint64_t vaddr, uint64_t *ret_slot)
{
	uint32_t adrp = plt_le32(at);
	uint32_t ldr = plt_le32(at + ARM64_WORD);
	uint64_t pages;

	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (pages & 1 << 20)
		pages |= ~(uint64_t)0 << 21;
	*ret_slot =
		(vaddr & ~(uint64_t)0xfff) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
	return true;
}

static int arm64_entries(struct plt *p, const struct elf_section *s,
			 const uint8_t *bytes)
{
	static const uint8_t bti_c[ARM64_WORD] = { 0x5f, 0x24, 0x03, 0xd5 };
	int r = 0;

	for (uint64_t at = 0; !r && s->bytes - at >= ARM64_ENTRY_BYTES;
	     at += ARM64_WORD) {
		uint64_t slot;
		bool has_bti = at >= ARM64_WORD &&
			       !memcmp(bytes + at - ARM64_WORD, bti_c, sizeof(bti_c));
		size_t before = has_bti ? ARM64_WORD : 0;

		if (arm64_slot(bytes + at, s->vaddr + at, &slot))
			r = plt_add_entry(p, s, at - before, ARM64_ENTRY_BYTES + before,
					  slot);
	}
	return r;
}

/* Returns the constant of "add rd, rn, #constant": eight bits, rotated right by twice the other
 * four. */
static uint32_t arm_constant(uint32_t add)
{
	uint32_t v = add & 0xff;
	uint32_t rotation = (add >> 8 & 0xf) * 2;

	return rotation ? v >> rotation | v << (32 - rotation) : v;
}

/* Decodes add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]! Sets *ret_slot to the address that the
 * last one loads from. Returns false for other instructions. */
static bool arm_slot(const uint8_t *at, uint64_t vaddr, uint64_t *ret_slot)
{
	uint32_t from_pc = plt_le32(at);
	uint32_t more = plt_le32(at + ARM_WORD);
	uint64_t load = plt_le32(at + 2 * (size_t)ARM_WORD);

	if ((from_pc & 0xfffff000) != 0xe28fc000 || (more & 0xfffff000) != 0xe28cc000 ||
	    (load & 0xfffff000) != 0xe5bcf000)
		return false;
	/* pc is two instructions ahead. */
	*ret_slot = (uint32_t)(vaddr + 2 * (uint64_t)ARM_WORD + arm_constant(from_pc) +
			       arm_constant(more) + (load & 0xfff));
	return true;
}

static int arm_entries(struct plt *p, const struct elf_section *s, const uint8_t *bytes)
{
	static const uint8_t bx_pc[] = { 0x78, 0x47 }; /* entry for Thumb code */
	int r = 0;

	for (uint64_t at = 0; !r && s->bytes - at >= ARM_ENTRY_BYTES; at += ARM_WORD) {
		uint64_t slot;
		bool has_thumb = at >= ARM_WORD &&
				 !memcmp(bytes + at - ARM_WORD, bx_pc, sizeof(bx_pc));
		size_t before = has_thumb ? ARM_WORD : 0;

		if (arm_slot(bytes + at, s->vaddr + at, &slot))
			r = plt_add_entry(p, s, at - before, ARM_ENTRY_BYTES + before,
					  slot);
	}
	return r;
}

/* Decodes larl %r1,slot; lg %r1,0(%r1); br %r1. The slot is in halfwords relative to larl. Returns
 * false for other instructions. */
static bool s390_slot(const struct plt *p, const uint8_t *at, uint64_t vaddr,
		      uint64_t *ret_slot)
{
	static const uint8_t load_and_go[] = { 0xe3, 0x10, 0x10, 0x00,
					       0x00, 0x04, 0x07, 0xf1 };
	uint32_t halfwords = (uint32_t)at[2] << 24 | (uint32_t)at[3] << 16 |
			     (uint32_t)at[4] << 8 | at[5];

	(void)p;
	if (at[0] != 0xc0 || at[1] != 0x10 ||
	    memcmp(at + 6, load_and_go, sizeof(load_and_go)) != 0)
		return false;
	*ret_slot = vaddr + 2 * (uint64_t)(int32_t)halfwords;
	return true;
}

/* Adds entries of equal length, `bytes_each`. */
static int even_entries(struct plt *p, const struct elf_section *s,
			const uint8_t *bytes, size_t bytes_each,
			bool (*slot_of)(const struct plt *p, const uint8_t *at,
					uint64_t vaddr, uint64_t *ret_slot))
{
	int r = 0;

	for (uint64_t at = 0; !r && s->bytes - at >= bytes_each; at += bytes_each) {
		uint64_t slot;

		if (slot_of(p, bytes + at, s->vaddr + at, &slot))
			r = plt_add_entry(p, s, at, bytes_each, slot);
	}
	return r;
}

static int s390_entries(struct plt *p, const struct elf_section *s,
			const uint8_t *bytes)
{
	return even_entries(p, s, bytes, S390_ENTRY_BYTES, s390_slot);
}

/* Decodes auipc t3, pages; ld t3, offset(t3) (lw on 32 bits). Both numbers are signed. Returns
 * false for other instructions. */
static bool riscv_slot(const struct plt *p, const uint8_t *at, uint64_t vaddr,
		       uint64_t *ret_slot)
{
	uint32_t auipc = plt_le32(at);
	uint32_t load = plt_le32(at + RISCV_WORD);
	uint64_t slot = vaddr + (uint64_t)(int32_t)(auipc & 0xfffff000) +
			(uint64_t)((int32_t)load >> 20);

	if ((auipc & 0xfff) != 0xe17 ||
	    (load & 0xfffff) != (p->f->is64 ? 0xe3e03 : 0xe2e03))
		return false;
	*ret_slot = p->f->is64 ? slot : (uint32_t)slot;
	return true;
}

static int riscv_entries(struct plt *p, const struct elf_section *s,
			 const uint8_t *bytes)
{
	return even_entries(p, s, bytes, RISCV_ENTRY_BYTES, riscv_slot);
}

static const struct arch {
	uint16_t machine;
	int (*entries)(struct plt *p, const struct elf_section *s,
		       const uint8_t *bytes);
} archs[] = {
	{ EM_X86_64, x86_entries },    { EM_386, x86_entries },
	{ EM_AARCH64, arm64_entries }, { EM_ARM, arm_entries },
	{ EM_S390, s390_entries },     { EM_RISCV, riscv_entries },
};

/* Reads the relocations, symbols and names. Returns 0 also if the file has none. */
static int load_slots(struct plt *p)
{
	bool has_got_calls = elf_file_find_section(p->f, ".plt.got");
	const struct elf_section *dynsym = NULL;
	const struct elf_section *s;
	int r;

	for (size_t i = 0; i < p->f->sections.nr && !dynsym; i++)
		if (p->f->sections.at[i].type == SHT_DYNSYM)
			dynsym = &p->f->sections.at[i];
	if (!dynsym || dynsym->link >= p->f->sections.nr)
		return 0;
	s = &p->f->sections.at[dynsym->link];
	r = elf_file_section_bytes(p->f, dynsym, TABLE_MAX_BYTES, &p->symbols);
	if (!r)
		r = elf_file_section_bytes(p->f, s, TABLE_MAX_BYTES,
					   (uint8_t **)&p->strings);
	if (r)
		return r == -ENOMEM ? r : 0;
	p->symbols_bytes = dynsym->bytes;
	p->strings_bytes = s->bytes;
	s = elf_file_find_section(p->f, ".got.plt");
	p->got = s ? s->vaddr : 0;
	for (size_t i = 0; !r && i < p->f->sections.nr; i++) {
		const char *name;

		s = &p->f->sections.at[i];
		if (s->type != SHT_RELA && s->type != SHT_REL)
			continue;
		name = elf_file_section_name(p->f, s);
		/* The long list of data relocations is read only if needed. */
		if (strstr(name, ".plt") || has_got_calls)
			r = take_slots(p, s);
	}
	return r ? r : sort_slots(p);
}

static int read_entries(struct plt *p, const struct arch *arch)
{
	int r = 0;

	for (size_t i = 0; !r && i < p->f->sections.nr; i++) {
		const struct elf_section *s = &p->f->sections.at[i];
		uint8_t *bytes;

		if (!(s->flags & SHF_EXECINSTR) ||
		    strncmp(elf_file_section_name(p->f, s), ".plt", 4) != 0)
			continue;
		r = elf_file_section_bytes(p->f, s, PLT_MAX_BYTES, &bytes);
		if (r) {
			r = r == -ENOMEM ? r : 0;
			continue;
		}
		r = arch->entries(p, s, bytes);
		free(bytes);
	}
	return r;
}

/* Moves the names of `p` into the table. */
static int plt_make_table(struct plt *p, struct symtab *tab)
{
	symtab_candidates candidates = { 0 };
	int r = 0;

	tab->names = (char *)p->names.data;
	p->names = (struct buf){ 0 };
	for (size_t i = 0; !r && i < p->entries.nr; i++) {
		const struct plt_entry *e = &p->entries.at[i];
		struct symtab_candidate c = {
			.offset = e->offset,
			.size = e->bytes,
			.vaddr = e->vaddr,
			.name = tab->names + e->name,
			.binding = SYMTAB_LOCAL,
		};

		if (!vec_push(&candidates, c))
			r = -ENOMEM;
	}
	if (!r)
		r = symtab_build(tab, &candidates);
	vec_done(&candidates);
	return r;
}

int plt_load(struct elf_file *f, struct symtab **ret_tab)
{
	struct symtab *tab = calloc(1, sizeof(*tab));
	struct plt p = { .f = f };
	int r = tab ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < COUNT_OF(archs); i++) {
		if (archs[i].machine != f->machine)
			continue;
		r = load_slots(&p);
		if (!r && p.slots.nr)
			r = read_entries(&p, &archs[i]);
		if (!r)
			r = plt_make_table(&p, tab);
	}
	vec_done(&p.slots);
	vec_done(&p.entries);
	buf_done(&p.names);
	free(p.symbols);
	free(p.strings);
	if (r) {
		symtab_free(tab);
		return r;
	}
	*ret_tab = tab;
	return 0;
}
