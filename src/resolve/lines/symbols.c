/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/sort_keys.h"
#include "base/containers/vec.h"
#include "base/cursor.h"
#include "resolve/dwarf/file.h"
#include "resolve/elf/file.h"

enum {
	HEAD = 8,
	ENTRY = 24, /* addr, size, name, file */
	SYMS_MAX_BYTES = 1 << 30,
	/* Maximum number of symbols that are checked before an address: labels within functions. */
	BACK_MAX = 64
};

struct raw {
	uint64_t addr;
	uint64_t size;
	uint32_t name;
	uint32_t file; /* 0: none */
};

struct line_symbols_table {
	struct elf_file *f;
	const struct dwarf_file *position;
	uint8_t *syms;
	size_t nr;
	char *strings;
	uint32_t strings_len;
	VEC(struct raw) list;
};

static bool is_code_section(const struct line_symbols_table *s, uint16_t number)
{
	if (number >= s->f->sections.nr)
		return false;
	return (s->f->sections.at[number].flags & SHF_EXECINSTR) != 0;
}

/* Returns whether the name is a mapping symbol ("$x", "$a.1"), which marks a change in the type
 * of code. */
static bool is_mapping(const char *name)
{
	return name[0] == '$' && name[1] && (!name[2] || name[2] == '.');
}

/* A symbol of the table. */
struct sym {
	uint32_t name;
	uint8_t info;
	uint16_t section;
	uint64_t value;
	uint64_t size;
};

static struct sym read_sym(const struct line_symbols_table *s, size_t i, size_t each)
{
	struct cursor c = cursor_of(s->syms + i * each, each, s->f->swap);
	struct sym sym = { .name = cursor_u32(&c) };

	if (s->f->is64) {
		sym.info = cursor_u8(&c);
		cursor_u8(&c);
		sym.section = cursor_u16(&c);
		sym.value = cursor_u64(&c);
		sym.size = cursor_u64(&c);
	} else {
		sym.value = cursor_u32(&c);
		sym.size = cursor_u32(&c);
		sym.info = cursor_u8(&c);
		cursor_u8(&c);
		sym.section = cursor_u16(&c);
	}
	return sym;
}

static int line_symbols_collect(struct line_symbols_table *s)
{
	size_t each = s->f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint32_t file = 0;

	for (size_t i = 0; i < s->nr; i++) {
		struct sym sym = read_sym(s, i, each);
		unsigned int type = sym.info & 0xf;
		bool local = sym.info >> 4 == STB_LOCAL;
		struct raw raw = { sym.value, sym.size, sym.name, local ? file : 0 };

		if (type == STT_FILE)
			file = sym.name ? sym.name : s->strings_len - 1; /* "" */
		if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
		    !is_code_section(s, sym.section) || !sym.name ||
		    sym.name >= s->strings_len || !s->strings[sym.name] ||
		    is_mapping(s->strings + sym.name))
			continue;
		if (s->position && s->position->is_rel)
			raw.addr += s->position->placed.at[sym.section];
		/* The Thumb bit is not part of the address. */
		if (s->f->machine == EM_ARM && type == STT_FUNC)
			raw.addr &= ~(uint64_t)1;
		if (!vec_push(&s->list, raw))
			return -ENOMEM;
	}
	return s->list.nr ? 0 : -ENODATA;
}

static int line_symbols_put_sorted(const struct line_symbols_table *s, struct buf *out)
{
	struct sort_key *keys = malloc(s->list.nr * sizeof(*keys));
	int r;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < s->list.nr; i++)
		keys[i] = (struct sort_key){ s->list.at[i].addr, (uint32_t)i };
	r = sort_keys(&keys, s->list.nr);
	buf_put_u32(out, (uint32_t)s->list.nr);
	buf_put_u32(out, s->strings_len);
	for (size_t i = 0; !r && i < s->list.nr; i++) {
		const struct raw *raw = &s->list.at[keys[i].index];

		buf_put_u64(out, raw->addr);
		buf_put_u64(out, raw->size);
		buf_put_u32(out, raw->name);
		buf_put_u32(out, raw->file < s->strings_len ? raw->file : 0);
	}
	buf_put(out, s->strings, s->strings_len);
	free(keys);
	if (!r && out->failed)
		r = -ENOMEM;
	return r;
}

static const struct elf_section *line_symbols_find_table(const struct elf_file *f)
{
	const struct elf_section *dynamic = NULL;

	for (size_t i = 0; i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];

		if (s->type == SHT_SYMTAB && s->bytes)
			return s;
		if (s->type == SHT_DYNSYM)
			dynamic = s;
	}
	return dynamic;
}

int line_symbols_make(struct elf_file *f, const struct dwarf_file *position,
		      struct buf *out)
{
	struct line_symbols_table s = { .f = f, .position = position };
	const struct elf_section *table = line_symbols_find_table(f);
	const struct elf_section *strings;
	uint8_t *text = NULL;
	int r;

	if (!table || table->link >= f->sections.nr)
		return -ENODATA;
	strings = &f->sections.at[table->link];
	r = elf_file_section_bytes(f, table, SYMS_MAX_BYTES, &s.syms);
	if (!r)
		r = elf_file_section_bytes(f, strings, SYMS_MAX_BYTES, &text);
	if (!r) {
		s.nr = (size_t)(table->bytes /
				(f->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)));
		s.strings = (char *)text;
		/* The length includes the zero byte that follows the strings. */
		s.strings_len = (uint32_t)strings->bytes + 1;
		r = line_symbols_collect(&s);
	}
	if (!r)
		r = line_symbols_put_sorted(&s, out);
	vec_done(&s.list);
	free(s.syms);
	free(text);
	return r;
}

int line_symbols_open(struct line_symbols *s, const void *bytes, size_t len)
{
	struct cursor c = cursor_le(bytes, len);

	s->last = 0;
	s->nr = cursor_u32(&c);
	s->strings_len = cursor_u32(&c);
	s->entries = cursor_take(&c, (size_t)s->nr * ENTRY);
	s->strings = cursor_take(&c, s->strings_len);
	if (c.failed || !s->strings_len || s->strings[s->strings_len - 1])
		return -EBADMSG;
	return 0;
}

static struct line_symbol entry_at(const struct line_symbols *s, uint32_t i)
{
	struct cursor c = cursor_le(s->entries + (size_t)i * ENTRY, ENTRY);
	struct line_symbol sym = { .addr = cursor_u64(&c) };
	uint32_t name;
	uint32_t file;

	sym.size = cursor_u64(&c);
	name = cursor_u32(&c);
	file = cursor_u32(&c);
	sym.name = name < s->strings_len ? s->strings + name : "";
	sym.file = file && file < s->strings_len ? s->strings + file : NULL;
	return sym;
}

static bool covers(const struct line_symbol *sym, uint64_t addr)
{
	return !sym->size || addr - sym->addr < sym->size;
}

static uint64_t addr_at(const struct line_symbols *s, uint32_t i)
{
	struct cursor c = cursor_le(s->entries + (size_t)i * ENTRY, 8);

	return cursor_u64(&c);
}

/* Finds the first symbol after `addr`: from the last result with doubling steps, then by
 * bisection. */
static uint32_t find_after(struct line_symbols *s, uint64_t addr)
{
	uint32_t low = 0;
	uint32_t high = s->nr;

	if (s->last < s->nr && addr_at(s, s->last) <= addr) {
		low = s->last;
		for (uint32_t step = 1; step < s->nr - low; step *= 2) {
			if (addr_at(s, low + step) > addr) {
				high = low + step;
				break;
			}
			low += step;
		}
	}
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (addr_at(s, mid) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	s->last = low ? low - 1 : 0;
	return low;
}

bool line_symbols_find(struct line_symbols *s, uint64_t addr, const char *wanted,
		       struct line_symbol *ret)
{
	uint64_t nearest = 0;
	bool found = false;

	for (uint32_t i = find_after(s, addr), back = 0; i-- > 0 && back < BACK_MAX;
	     back++) {
		struct line_symbol sym = entry_at(s, i);

		if (!back)
			nearest = sym.addr;
		if (found && sym.addr != ret->addr)
			break;
		/* A symbol without a size ends at the next symbol of any kind. */
		if (!covers(&sym, addr) || (!sym.size && sym.addr != nearest) ||
		    (found && !sym.size && ret->size))
			continue;
		*ret = sym;
		found = true;
		if (wanted && strcmp(sym.name, wanted) == 0)
			break;
	}
	return found;
}
