/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/dwarf/reloc.h"

enum {
	SECTION_NAME_MAX = 40,
	JOINED_RATIO = 16 /* maximum size of joined sections, compared with the file */
};

static const char *const section_names[DWARF_SECTIONS] = {
	[DWARF_INFO] = "info",         [DWARF_ABBREV] = "abbrev",
	[DWARF_LINE] = "line",         [DWARF_STR] = "str",
	[DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr",         [DWARF_RANGES] = "ranges",
	[DWARF_RNGLISTS] = "rnglists", [DWARF_CU_INDEX] = "cu_index",
};

/* Returns the kind of a debug section by its name, or -1 for other sections: .debug_NAME or
 * .zdebug_NAME, with the suffix .dwo in split DWARF (except for .debug_cu_index). */
static int dwarf_file_kind_of(const char *name, bool dwo, bool *ret_zdebug)
{
	char plain[SECTION_NAME_MAX];
	size_t len;
	bool split;

	*ret_zdebug = strncmp(name, ".zdebug_", 8) == 0;
	if (!*ret_zdebug && strncmp(name, ".debug_", 7) != 0)
		return -1;
	name += *ret_zdebug ? 8 : 7;
	len = strlen(name);
	split = len > 4 && strcmp(name + len - 4, ".dwo") == 0;
	if (split)
		len -= 4;
	if (len >= sizeof(plain))
		return -1;
	memcpy(plain, name, len);
	plain[len] = '\0';
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		if (strcmp(plain, section_names[i]) == 0)
			return split == dwo || i == DWARF_CU_INDEX ? i : -1;
	}
	return -1;
}

/* Assigns an address to each section of a relocatable file that occupies memory. */
static int place_sections(struct dwarf_file *f)
{
	uint64_t at = DWARF_REL_BASE;

	if (!vec_reserve(&f->placed, f->elf.sections.nr))
		return -ENOMEM;
	for (size_t i = 0; i < f->elf.sections.nr; i++) {
		const struct elf_section *s = &f->elf.sections.at[i];
		uint64_t align = s->align > 16 && s->align <= 4096 ? s->align : 16;
		uint64_t addr = 0;

		if (s->flags & SHF_ALLOC) {
			at = (at + align - 1) & ~(align - 1);
			addr = at;
			at += s->bytes < 1ULL << 40 ? s->bytes : 0;
		}
		f->placed.at[f->placed.nr++] = addr;
	}
	return 0;
}

static int dwarf_file_by_low(const void *a, const void *b)
{
	const struct dwarf_code *x = a;
	const struct dwarf_code *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int dwarf_file_add_code(struct dwarf_file *f, uint64_t low, uint64_t bytes)
{
	struct dwarf_code code = { low, low + bytes };

	if (!bytes || code.high < low)
		return 0;
	return vec_push(&f->code, code) ? 0 : -ENOMEM;
}

static int dwarf_file_find_code(struct dwarf_file *f)
{
	int r = 0;

	for (size_t i = 0; !r && i < f->elf.sections.nr; i++) {
		const struct elf_section *s = &f->elf.sections.at[i];

		if ((s->flags & SHF_ALLOC) && (s->flags & SHF_EXECINSTR))
			r = dwarf_file_add_code(
				f, f->is_rel ? f->placed.at[i] : s->vaddr, s->bytes);
	}
	for (size_t i = 0; !r && !f->code.nr && i < f->elf.segments.nr; i++) {
		const struct elf_segment *s = &f->elf.segments.at[i];

		if (s->type == PT_LOAD && (s->flags & PF_X))
			r = dwarf_file_add_code(f, s->vaddr, s->mem_bytes);
	}
	if (f->code.nr)
		qsort(f->code.at, f->code.nr, sizeof(*f->code.at), dwarf_file_by_low);
	return r;
}

/* Appends a section of a relocatable file to the one of the same name that was opened before.
 * Each type unit of DWARF 5 is in its own section, in a COMDAT group. References within a
 * section are relative to its start, as in the linked file. Returns 0 or a negative errno. */
static int dwarf_file_join(struct dwarf_file *f, size_t number, int kind, bool zdebug)
{
	struct dwarf_section more;
	uint64_t off = f->sections[kind].bytes;
	int r = dwarf_section_open(&f->elf, &f->elf.sections.at[number], zdebug, &more);

	if (!r)
		r = dwarf_section_append(&f->sections[kind], &more,
					 f->elf.len * JOINED_RATIO);
	if (f->is_rel)
		f->placed.at[number] = r ? UINT64_MAX : off;
	return r;
}

static int dwarf_file_open_sections(struct dwarf_file *f, bool dwo)
{
	for (size_t i = 0; i < f->elf.sections.nr; i++) {
		const struct elf_section *s = &f->elf.sections.at[i];
		const char *name = elf_file_section_name(&f->elf, s);
		bool zdebug;
		int kind = dwarf_file_kind_of(name, dwo, &zdebug);
		int r;

		if (kind < 0)
			continue;
		if (!f->sections[kind].bytes)
			r = dwarf_section_open(&f->elf, s, zdebug, &f->sections[kind]);
		else if (f->elf.type == ET_REL)
			r = dwarf_file_join(f, i, kind, zdebug);
		else
			continue;
		if (r == -ENOMEM)
			return r;
		if (r == -EFBIG)
			f->too_large = name;
		/* Any error other than -ENOMEM disables only this section. */
	}
	return 0;
}

static int relocate(struct dwarf_file *f, bool dwo)
{
	for (size_t i = 0; i < f->elf.sections.nr; i++) {
		const struct elf_section *s = &f->elf.sections.at[i];
		bool zdebug;
		int kind;

		if ((s->type != SHT_RELA && s->type != SHT_REL) ||
		    s->info >= f->elf.sections.nr)
			continue;
		kind = dwarf_file_kind_of(
			elf_file_section_name(&f->elf, &f->elf.sections.at[s->info]),
			dwo, &zdebug);
		if (kind < 0 || !f->sections[kind].bytes)
			continue;
		if (dwarf_reloc_apply(f, s, (unsigned int)kind) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int dwarf_file_open_all(struct dwarf_file *f, bool dwo, struct err *err)
{
	int r = elf_file_sections(&f->elf, err);

	f->elf_ok = true;
	f->is_dwo = dwo;
	f->is_rel = f->elf.type == ET_REL && !dwo;
	f->addr_bytes = f->elf.is64 ? 8 : 4;
	if (!r && f->is_rel)
		r = place_sections(f);
	if (!r)
		r = dwarf_file_find_code(f);
	if (!r)
		r = dwarf_file_open_sections(f, dwo);
	if (!r && f->is_rel)
		r = relocate(f, dwo);
	if (r)
		dwarf_file_close(f);
	return r;
}

static void dwarf_file_init_empty(struct dwarf_file *f)
{
	*f = (struct dwarf_file){ 0 };
	for (int i = 0; i < DWARF_SECTIONS; i++)
		f->sections[i].fd = -1;
}

int dwarf_file_open_fd(struct dwarf_file *f, int fd, bool dwo, struct err *err)
{
	int r;

	dwarf_file_init_empty(f);
	r = elf_file_init_fd(&f->elf, fd, err);
	return r ? r : dwarf_file_open_all(f, dwo, err);
}

int dwarf_file_open_bytes(struct dwarf_file *f, const void *bytes, size_t len, bool dwo,
			  struct err *err)
{
	int r;

	dwarf_file_init_empty(f);
	r = elf_file_init_bytes(&f->elf, bytes, len, err);
	return r ? r : dwarf_file_open_all(f, dwo, err);
}

void dwarf_file_forget(struct dwarf_file *f)
{
	for (int i = 0; i < DWARF_SECTIONS; i++)
		dwarf_section_forget(&f->sections[i]);
}

void dwarf_file_close(struct dwarf_file *f)
{
	for (int i = 0; i < DWARF_SECTIONS; i++)
		dwarf_section_close(&f->sections[i]);
	vec_done(&f->code);
	vec_done(&f->placed);
	if (f->elf_ok)
		elf_file_done(&f->elf);
	f->elf_ok = false;
}

bool dwarf_file_has_info(const struct dwarf_file *f)
{
	return f->sections[DWARF_INFO].bytes && f->sections[DWARF_ABBREV].bytes;
}

bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr)
{
	size_t low = 0;
	size_t high = f->code.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->code.at[mid].low <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < f->code.at[low - 1].high;
}

int dwarf_file_position(struct dwarf_file *f, const char *section, uint64_t off,
			uint64_t *ret_addr)
{
	const struct elf_section *s = NULL;

	if (section)
		s = elf_file_find_section(&f->elf, section);
	for (size_t i = 0; !section && !s && i < f->elf.sections.nr; i++) {
		const struct elf_section *at = &f->elf.sections.at[i];

		if ((at->flags & SHF_ALLOC) && at->bytes > off)
			s = at;
	}
	if (!s || !(s->flags & SHF_ALLOC))
		return -ENOENT;
	*ret_addr = off + (f->is_rel ? f->placed.at[s - f->elf.sections.at] : s->vaddr);
	return 0;
}
