/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symtab_pe.c - reads the functions of PE files: COFF symbols, which compilers other than
 * Microsoft's keep in the file, or exported functions.
 * Source of the format: Microsoft, "PE Format". */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/symtab_priv.h"

enum {
	SYMBOL_BYTES = 18,
	SHORT_NAME_BYTES = 8,
	SYMBOLS_MAX_BYTES = 1 << 28,
	NAMES_MAX_BYTES = 1 << 28,
	EXPORTS_MAX_BYTES = 1 << 26,
	CLASS_EXTERNAL = 2,
	CLASS_STATIC = 3,
	CLASS_WEAK = 105,
	TYPE_FUNCTION = 2, /* of the derived type, in bits 4 and 5 */
	EXPORTS_COUNTS_AT = 20
};

/* Names are offsets in `names` while it grows. */
struct pe_loading {
	const struct elf_file *f;
	symtab_candidates *candidates;
	size_t first; /* of our candidates */
	struct buf names;
	VEC(size_t) name_at; /* of each candidate */
};

struct coff_symbol {
	uint8_t name[SHORT_NAME_BYTES];
	uint32_t value;
	uint16_t section; /* from 1 */
	uint16_t type;
	uint8_t class;
	uint8_t nr_more; /* entries that belong to it */
};

static struct coff_symbol coff_take_symbol(struct cursor *c)
{
	struct coff_symbol s = { 0 };
	const void *name = cursor_take(c, sizeof(s.name));

	if (name)
		memcpy(s.name, name, sizeof(s.name));
	s.value = cursor_u32(c);
	s.section = cursor_u16(c);
	s.type = cursor_u16(c);
	s.class = cursor_u8(c);
	s.nr_more = cursor_u8(c);
	return s;
}

/* Returns the offset of a symbol's name in `names`, which begin with the table of long names.
 * Returns SIZE_MAX if it has none. */
static size_t coff_name(struct pe_loading *l, const struct coff_symbol *s,
			size_t long_bytes)
{
	struct cursor c = cursor_of(s->name, sizeof(s->name), l->f->swap);
	size_t at = l->names.len;
	uint32_t offset;

	if (cursor_u32(&c)) {
		buf_put(&l->names, s->name, sizeof(s->name));
		buf_put_u8(&l->names, 0);
	} else {
		offset = cursor_u32(&c);
		if (offset >= long_bytes)
			return SIZE_MAX;
		at = offset;
	}
	if (l->names.failed)
		return SIZE_MAX;
	/* On 32-bit x86, symbols of C begin with an additional underscore. */
	if (l->f->machine == EM_386 && l->names.data[at] == '_')
		at++;
	return l->names.data[at] ? at : SIZE_MAX;
}

/* Adds a function in a section. */
static int pe_add(struct pe_loading *l, const struct elf_section *s, uint64_t value,
		  struct symtab_candidate c, size_t name)
{
	c.vaddr = s->vaddr + value;
	c.offset = s->offset + value;
	c.limit = s->offset + s->bytes;
	return vec_push(l->candidates, c) && vec_push(&l->name_at, name) ? 0 : -ENOMEM;
}

static int coff_add_symbol(struct pe_loading *l, const struct coff_symbol *s,
			   size_t long_bytes)
{
	bool function = (s->type >> 4 & 3) == TYPE_FUNCTION;
	const struct elf_section *section;
	struct symtab_candidate c = { .label = !function };
	size_t name;

	if (s->section < 1 || s->section > l->f->sections.nr ||
	    (s->class != CLASS_EXTERNAL && s->class != CLASS_STATIC &&
	     s->class != CLASS_WEAK) ||
	    (s->class == CLASS_STATIC && s->nr_more && !function)) /* a section */
		return 0;
	section = &l->f->sections.at[s->section - 1];
	if (!(section->flags & SHF_EXECINSTR) || s->value >= section->bytes)
		return 0;
	name = coff_name(l, s, long_bytes);
	if (l->names.failed)
		return -ENOMEM;
	if (name == SIZE_MAX || (!function && l->names.data[name] == '.'))
		return 0;
	c.binding = s->class == CLASS_EXTERNAL ? SYMTAB_GLOBAL
		    : s->class == CLASS_STATIC ? SYMTAB_LOCAL
					       : SYMTAB_WEAK;
	return pe_add(l, section, s->value, c, name);
}

/* Reads the table of long names into l->names, followed by a zero byte. Its first four bytes are
 * its size. */
static int coff_read_long_names(struct pe_loading *l, uint64_t at, size_t *ret_bytes)
{
	uint8_t raw[4];
	struct cursor c = cursor_of(raw, sizeof(raw), l->f->swap);
	uint8_t *bytes;
	uint64_t len;
	int r;

	*ret_bytes = 0;
	if (elf_file_read(l->f, at, raw, sizeof(raw)))
		return 0;
	len = cursor_u32(&c);
	if (len > l->f->len - at)
		len = l->f->len - at;
	if (len > NAMES_MAX_BYTES)
		return 0;
	r = elf_file_read_new(l->f, at, len, &bytes);
	if (r)
		return r == -ENOMEM ? r : 0;
	buf_put(&l->names, bytes, (size_t)len + 1);
	free(bytes);
	*ret_bytes = (size_t)len;
	return l->names.failed ? -ENOMEM : 0;
}

static int coff_read(struct pe_loading *l)
{
	uint64_t len = (uint64_t)l->f->pe.nr_symbols * SYMBOL_BYTES;
	size_t long_bytes;
	struct cursor c;
	uint8_t *bytes;
	int r;

	if (!l->f->pe.symbols || !len || len > SYMBOLS_MAX_BYTES)
		return 0;
	r = elf_file_read_new(l->f, l->f->pe.symbols, len, &bytes);
	if (r)
		return r == -ENOMEM ? r : 0;
	r = coff_read_long_names(l, l->f->pe.symbols + len, &long_bytes);
	c = cursor_of(bytes, (size_t)len, l->f->swap);
	while (!r && cursor_left(&c)) {
		struct coff_symbol s = coff_take_symbol(&c);

		r = coff_add_symbol(l, &s, long_bytes);
		cursor_take(&c, (size_t)s.nr_more * SYMBOL_BYTES);
		if (c.failed)
			break;
	}
	free(bytes);
	return r;
}

static const struct elf_section *pe_section_at(const struct elf_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->sections.nr; i++) {
		const struct elf_section *s = &f->sections.at[i];

		if (s->type == SHT_PROGBITS && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->bytes)
			return s;
	}
	return NULL;
}

/* The exports' tables, which are in one section: `bytes` is its content. */
struct pe_exports {
	const struct elf_section *section;
	const uint8_t *bytes;
	uint64_t vaddr; /* of the directory */
	uint64_t directory_bytes;
	uint32_t functions; /* addresses relative to the image's base */
	uint32_t nr_functions;
	uint32_t names;
	uint32_t numbers;
};

/* Reads a number at an address relative to the image's base; 0 if it is not in the section. */
static uint32_t pe_exports_number(const struct pe_loading *l,
				  const struct pe_exports *x, uint64_t rva,
				  unsigned int bytes)
{
	struct cursor c = cursor_of(x->bytes, (size_t)x->section->bytes, l->f->swap);
	uint64_t at = l->f->pe.base + rva - x->section->vaddr;

	if (at > x->section->bytes)
		return 0;
	c.pos = (size_t)at;
	return bytes == 4 ? cursor_u32(&c) : cursor_u16(&c);
}

/* Adds the i-th name. An address in the directory itself is the name of a function in another
 * library. */
static int pe_exports_add(struct pe_loading *l, const struct pe_exports *x, uint32_t i)
{
	const struct symtab_candidate c = { .binding = SYMTAB_GLOBAL };
	uint64_t name = pe_exports_number(l, x, x->names + 4ULL * i, 4) +
			l->f->pe.base - x->section->vaddr;
	uint32_t number = pe_exports_number(l, x, x->numbers + 2ULL * i, 2);
	const struct elf_section *s;
	uint64_t vaddr;

	if (number >= x->nr_functions || name >= x->section->bytes || !x->bytes[name])
		return 0;
	vaddr = l->f->pe.base +
		pe_exports_number(l, x, x->functions + 4ULL * number, 4);
	s = pe_section_at(l->f, vaddr);
	if (!s || !(s->flags & SHF_EXECINSTR) ||
	    (vaddr >= x->vaddr && vaddr - x->vaddr < x->directory_bytes))
		return 0;
	return pe_add(l, s, vaddr - s->vaddr, c, (size_t)name);
}

static int pe_read_exports(struct pe_loading *l)
{
	struct pe_exports x = { 0 };
	uint64_t directory;
	uint32_t nr_names;
	uint8_t *bytes;
	int r = 0;

	if (!pe_directory(l->f, PE_EXPORTS, &x.vaddr, &x.directory_bytes))
		return 0;
	x.section = pe_section_at(l->f, x.vaddr);
	if (!x.section)
		return 0;
	r = elf_file_section_bytes(l->f, x.section, EXPORTS_MAX_BYTES, &bytes);
	if (r)
		return r == -ENOMEM ? r : 0;
	x.bytes = bytes;
	directory = x.vaddr - l->f->pe.base + EXPORTS_COUNTS_AT;
	x.nr_functions = pe_exports_number(l, &x, directory, 4);
	nr_names = pe_exports_number(l, &x, directory + 4, 4);
	x.functions = pe_exports_number(l, &x, directory + 8, 4);
	x.names = pe_exports_number(l, &x, directory + 12, 4);
	x.numbers = pe_exports_number(l, &x, directory + 16, 4);
	if (nr_names > x.section->bytes / 4)
		nr_names = (uint32_t)(x.section->bytes / 4);
	for (uint32_t i = 0; !r && i < nr_names; i++)
		r = pe_exports_add(l, &x, i);
	buf_clear(&l->names);
	buf_put(&l->names, bytes, (size_t)x.section->bytes + 1);
	free(bytes);
	return l->names.failed ? -ENOMEM : r;
}

/* Sets the size of a symbol, which COFF does not store, to that of the function that begins there
 * in the unwind table. Otherwise, limits the symbol to the end of the function that contains it, or
 * to the start of the next one. */
static void pe_set_size(struct symtab_candidate *c, const pe_functions *functions)
{
	size_t low = 0;
	size_t high = functions->nr;
	uint64_t end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (functions->at[mid].low <= c->vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low && functions->at[low - 1].low == c->vaddr) {
		c->size = functions->at[low - 1].high - c->vaddr;
		c->label = false;
		return;
	}
	if (low && functions->at[low - 1].high > c->vaddr)
		end = functions->at[low - 1].high;
	else if (low < functions->nr)
		end = functions->at[low].low;
	else
		return;
	end = end - c->vaddr + c->offset;
	if (end < c->limit)
		c->limit = end;
}

int symtab_read_pe(const struct elf_file *f, symtab_candidates *candidates,
		   char **ret_names)
{
	struct pe_loading l = { .f = f, .candidates = candidates };
	pe_functions functions = { 0 };
	int r;

	l.first = candidates->nr;
	r = coff_read(&l);
	if (!r && candidates->nr == l.first)
		r = pe_read_exports(&l);
	if (!r)
		r = pe_read_functions(f, &functions);
	for (size_t i = 0; !r && i < l.name_at.nr; i++) {
		struct symtab_candidate *c = &candidates->at[l.first + i];

		c->name = (const char *)l.names.data + l.name_at.at[i];
		pe_set_size(c, &functions);
	}
	vec_done(&functions);
	vec_done(&l.name_at);
	*ret_names = (char *)l.names.data;
	return r;
}
