/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/code/insn_marks.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "resolve/elf/file.h"

enum {
	TABLE_MAX_BYTES = 1 << 28, /* limit for symbols and for their names */
	ENTRY_AT = 24              /* offset of e_entry, in both classes */
};

/* The highest rank at an address wins. */
enum rank {
	OF_SECTION,
	OF_FUNCTION,
	OF_MARK
};

struct mark {
	uint64_t vaddr;
	enum insn_mode mode;
	enum rank rank;
};

struct insn_marks {
	VEC(struct mark) all; /* sorted by address, one mark for each address */
};

struct insn_marks_loading {
	struct elf_file *code;
	struct insn_marks *marks;
	const uint8_t *names;
	uint64_t names_bytes;
	bool any_thumb;
	bool any_function;
};

struct symbol_entry {
	uint32_t name;
	uint8_t type;
	uint16_t section;
	uint64_t value;
};

static struct symbol_entry decode_entry(struct cursor *c, bool is64)
{
	struct symbol_entry s = { .name = cursor_u32(c) };

	if (!is64) {
		s.value = cursor_u32(c);
		cursor_u32(c); /* st_size */
	}
	s.type = ELF64_ST_TYPE(cursor_u8(c));
	cursor_u8(c); /* st_other */
	s.section = cursor_u16(c);
	if (is64)
		s.value = cursor_u64(c);
	return s;
}

/* Parses a mapping symbol such as "$x", alone or followed by a dot and any text; on RISC-V, an
 * instruction set can follow. Returns false if the name is not one of this machine. */
static bool mode_of_name(const char *name, uint16_t machine, enum insn_mode *ret_mode)
{
	static const struct {
		uint16_t machine;
		char letter;
		enum insn_mode mode;
	} rows[] = {
		{ EM_ARM, 'a', INSN_CODE },     { EM_ARM, 't', INSN_THUMB },
		{ EM_ARM, 'd', INSN_DATA },     { EM_AARCH64, 'x', INSN_CODE },
		{ EM_AARCH64, 'd', INSN_DATA }, { EM_RISCV, 'x', INSN_CODE },
		{ EM_RISCV, 'd', INSN_DATA },
	};

	if (name[0] != '$' || !name[1])
		return false;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		if (rows[i].machine != machine || rows[i].letter != name[1])
			continue;
		*ret_mode = rows[i].mode;
		return !name[2] || name[2] == '.' || machine == EM_RISCV;
	}
	return false;
}

static int insn_marks_add(struct insn_marks *m, uint64_t vaddr, enum insn_mode mode,
			  enum rank rank)
{
	const struct mark mark = { vaddr, mode, rank };

	return vec_push(&m->all, mark) ? 0 : -ENOMEM;
}

static int take_entry(struct insn_marks_loading *l, const struct symbol_entry *s)
{
	uint16_t machine = l->code->machine;
	enum insn_mode mode;

	if (s->section == SHN_UNDEF || s->section >= SHN_LORESERVE)
		return 0;
	if (s->type == STT_NOTYPE && s->name < l->names_bytes &&
	    mode_of_name((const char *)l->names + s->name, machine, &mode))
		return insn_marks_add(l->marks, s->value, mode, OF_MARK);
	if (machine != EM_ARM || (s->type != STT_FUNC && s->type != STT_GNU_IFUNC))
		return 0;
	l->any_function = true;
	l->any_thumb |= s->value & 1;
	mode = s->value & 1 ? INSN_THUMB : INSN_CODE;
	return insn_marks_add(l->marks, s->value & ~(uint64_t)1, mode, OF_FUNCTION);
}

static int take_entries(struct insn_marks_loading *l, const struct elf_file *f,
			const struct elf_section *table)
{
	size_t entry = f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint8_t *symbols;
	int r = elf_file_section_bytes(f, table, TABLE_MAX_BYTES, &symbols);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (uint64_t at = 0; !r && table->bytes - at >= entry; at += entry) {
		struct cursor c = cursor_of(symbols + at, entry, f->swap);
		struct symbol_entry s = decode_entry(&c, f->is64);

		r = take_entry(l, &s);
	}
	free(symbols);
	return r;
}

static int insn_marks_take_tables(struct insn_marks_loading *l, struct elf_file *f)
{
	int r = elf_file_sections(f, NULL);

	if (r)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; !r && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];
		uint8_t *names;

		if ((s->type != SHT_SYMTAB && s->type != SHT_DYNSYM) ||
		    s->link >= f->sections.nr ||
		    elf_file_section_bytes(f, &f->sections.at[s->link], TABLE_MAX_BYTES,
					   &names))
			continue;
		l->names = names;
		l->names_bytes = f->sections.at[s->link].bytes;
		r = take_entries(l, f, s);
		free(names);
	}
	return r;
}

static bool entry_is_thumb(const struct elf_file *f)
{
	struct cursor c = cursor_of(f->head, f->head_len, f->swap);

	/* Windows on ARM runs only Thumb code. */
	return f->is_pe || (cursor_take(&c, ENTRY_AT) && cursor_u32(&c) & 1);
}

/* Adds a mark at the start of each executable section, for its code before the first symbol. The
 * PLT of an ARM program is taken for ARM code, even if the other code is Thumb. */
static int take_sections(struct insn_marks_loading *l)
{
	struct elf_file *f = l->code;
	bool thumb = l->any_function ? l->any_thumb : entry_is_thumb(f);
	int r = 0;

	for (size_t i = 0; !r && i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];
		const char *name = elf_file_section_name(f, s);
		bool plain = f->machine != EM_ARM || !strcmp(name, ".plt") ||
			     !strcmp(name, ".iplt");

		if (s->flags & SHF_EXECINSTR && s->vaddr)
			r = insn_marks_add(l->marks, s->vaddr,
					   thumb && !plain ? INSN_THUMB : INSN_CODE,
					   OF_SECTION);
	}
	return r;
}

static int compare_marks(const void *x, const void *y)
{
	const struct mark *a = x, *b = y;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return (a->mode > b->mode) - (a->mode < b->mode);
}

/* Sorts the marks and keeps the best one at each address. */
static void insn_marks_sort(struct insn_marks *m)
{
	size_t nr = 0;

	if (m->all.nr)
		qsort(m->all.at, m->all.nr, sizeof(*m->all.at), compare_marks);
	for (size_t i = 0; i < m->all.nr; i++)
		if (!nr || m->all.at[nr - 1].vaddr != m->all.at[i].vaddr)
			m->all.at[nr++] = m->all.at[i];
	m->all.nr = nr;
}

static bool has_marks(uint16_t machine)
{
	return machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV;
}

int insn_marks_load(struct elf_file *code, struct elf_file *debug,
		    struct insn_marks **ret_marks)
{
	struct insn_marks_loading l = { .code = code };
	int r;

	*ret_marks = NULL;
	/* Relocatable files are skipped: their symbols are relative to sections. */
	if (!has_marks(code->machine) || code->type == ET_REL)
		return 0;
	l.marks = calloc(1, sizeof(*l.marks));
	if (!l.marks)
		return -ENOMEM;
	r = insn_marks_take_tables(&l, code);
	if (!r && debug && debug->machine == code->machine && debug->is64 == code->is64)
		r = insn_marks_take_tables(&l, debug);
	if (!r)
		r = take_sections(&l);
	if (r) {
		insn_marks_free(l.marks);
		return r;
	}
	insn_marks_sort(l.marks);
	*ret_marks = l.marks;
	return 0;
}

void insn_marks_free(struct insn_marks *m)
{
	if (!m)
		return;
	vec_done(&m->all);
	free(m);
}

enum insn_mode insn_marks_at(const struct insn_marks *m, uint64_t vaddr,
			     uint64_t *ret_end)
{
	size_t low = 0;
	size_t high = m ? m->all.nr : 0;

	/* Find the first mark after the address. */
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->all.at[mid].vaddr <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	*ret_end = m && low < m->all.nr ? m->all.at[low].vaddr : UINT64_MAX;
	return low ? m->all.at[low - 1].mode : INSN_CODE;
}
