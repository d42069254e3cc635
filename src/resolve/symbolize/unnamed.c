/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/symbolize/unnamed.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "resolve/elf/file.h"
#include "resolve/symbols/plt.h"
#include "resolve/symbols/symtab.h"
#include "resolve/unwind/eh_frame.h"

enum {
	SHOWN_SECTION_NAME_MAX = 200
};

/* An executable section. */
struct code_section {
	uint64_t offset;
	uint64_t bytes;
	uint64_t vaddr;
	char *name;
	bool has_symbols;
};

struct made {
	struct symbol symbol; /* its name is the member `name` */
	char *name;
	enum unnamed_kind kind;
};

struct unnamed {
	const struct symtab *tab;
	VEC(struct code_section) sections;
	bool plt_read;
	bool unwind_read;
	struct symtab *plt; /* NULL: none */
	struct eh_frame unwind;
	VEC(struct made *) made;
	struct map made_by; /* (offset, kind) -> index in made */
};

/* Returns whether a symbol begins in [offset, offset + bytes). */
static bool has_symbol_in(const struct symtab *tab, uint64_t offset, uint64_t bytes)
{
	size_t low = 0;
	size_t high = symtab_count(tab);

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (symtab_at(tab, mid)->offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low < symtab_count(tab) && symtab_at(tab, low)->offset - offset < bytes;
}

static int add_section(struct unnamed *u, struct elf_file *f,
		       const struct elf_section *s)
{
	struct code_section c = { s->offset, s->bytes, s->vaddr, NULL, false };

	if (!(s->flags & SHF_EXECINSTR) || !(s->flags & SHF_ALLOC) ||
	    s->type == SHT_NOBITS)
		return 0;
	c.has_symbols = has_symbol_in(u->tab, c.offset, c.bytes);
	c.name = strndup(elf_file_section_name(f, s), SHOWN_SECTION_NAME_MAX);
	if (!c.name)
		return -ENOMEM;
	if (!vec_push(&u->sections, c)) {
		free(c.name);
		return -ENOMEM;
	}
	return 0;
}

int unnamed_new(struct elf_file *f, const struct symtab *tab,
		struct unnamed **ret_unnamed)
{
	struct unnamed *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->tab = tab;
	r = elf_file_sections(f, NULL);
	for (size_t i = 0; !r && i < f->sections.nr; i++)
		r = add_section(u, f, &f->sections.at[i]);
	if (r) {
		unnamed_free(u);
		return r;
	}
	*ret_unnamed = u;
	return 0;
}

void unnamed_free(struct unnamed *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->sections.nr; i++)
		free(u->sections.at[i].name);
	vec_done(&u->sections);
	for (size_t i = 0; i < u->made.nr; i++) {
		free(u->made.at[i]->name);
		free(u->made.at[i]);
	}
	vec_done(&u->made);
	map_done(&u->made_by);
	symtab_free(u->plt);
	eh_frame_done(&u->unwind);
	free(u);
}

static const struct code_section *unnamed_section_at(const struct unnamed *u,
						     uint64_t offset)
{
	for (size_t i = 0; i < u->sections.nr; i++) {
		const struct code_section *s = &u->sections.at[i];

		if (offset >= s->offset && offset - s->offset < s->bytes)
			return s;
	}
	return NULL;
}

static bool is_plt(const struct code_section *s)
{
	return s && strncmp(s->name, ".plt", 4) == 0;
}

enum unnamed_part unnamed_needs(const struct unnamed *u, uint64_t offset)
{
	if (is_plt(unnamed_section_at(u, offset)))
		return u->plt_read ? UNNAMED_READ_NOTHING : UNNAMED_READ_PLT;
	return u->unwind_read ? UNNAMED_READ_NOTHING : UNNAMED_READ_UNWIND;
}

int unnamed_read(struct unnamed *u, struct elf_file *f, enum unnamed_part part)
{
	int r = elf_file_sections(f, NULL);

	if (part == UNNAMED_READ_PLT && !u->plt_read) {
		u->plt_read = true;
		r = r ? r : plt_load(f, &u->plt);
	} else if (part == UNNAMED_READ_UNWIND && !u->unwind_read) {
		u->unwind_read = true;
		r = r ? r : eh_frame_load(f, &u->unwind);
	}
	return r == -ENOMEM ? r : 0;
}

/* Returns the symbol of `kind` with this start, which is made at the first call. `section` is
 * the name of the section, if the symbol is named after it. */
static const struct symbol *unnamed_make(struct unnamed *u, struct symbol s,
					 enum unnamed_kind kind, const char *section)
{
	uint32_t at = map_get(&u->made_by, s.offset, kind);
	struct made *m;
	int len;

	if (at != MAP_NONE)
		return &u->made.at[at]->symbol;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	if (section)
		len = asprintf(&m->name, "anonymous symbol from section %s", section);
	else
		len = asprintf(&m->name, "0x%llx", (unsigned long long)s.vaddr.v);
	if (len < 0)
		m->name = NULL;
	m->symbol = s;
	m->symbol.name = m->name;
	m->kind = kind;
	if (!m->name || !vec_push(&u->made, m)) {
		free(m->name);
		free(m);
		return NULL;
	}
	if (map_set(&u->made_by, s.offset, kind, (uint32_t)u->made.nr - 1)) {
		/* If memory is short, `made` keeps this entry, and the next call makes another
		 * one. */
		return NULL;
	}
	return &m->symbol;
}

/* Finds the function whose unwind entry covers the position. If a symbol begins at its start,
 * returns that symbol, whose size in the file is too small. */
static const struct symbol *unnamed_find_function(struct unnamed *u, uint64_t offset,
						  enum unnamed_kind *ret_kind)
{
	uint64_t vaddr = symtab_vaddr(u->tab, offset).v;
	const struct eh_function *f = eh_frame_find(&u->unwind, vaddr);
	const struct symbol *known;
	struct symbol s;

	if (!f || vaddr - f->start > offset)
		return NULL;
	s = (struct symbol){ .offset = offset - (vaddr - f->start),
			     .size = f->bytes,
			     .vaddr = { f->start } };
	known = symtab_find(u->tab, s.offset);
	if (known && known->offset == s.offset) {
		*ret_kind = UNNAMED_NAMED;
		return known;
	}
	*ret_kind = UNNAMED_FUNCTION;
	return unnamed_make(u, s, UNNAMED_FUNCTION, NULL);
}

const struct symbol *unnamed_find(struct unnamed *u, uint64_t offset,
				  enum unnamed_kind *ret_kind)
{
	const struct code_section *section = unnamed_section_at(u, offset);
	const struct symbol *s = NULL;

	if (is_plt(section)) {
		*ret_kind = UNNAMED_NAMED;
		s = u->plt ? symtab_find(u->plt, offset) : NULL;
	} else {
		s = unnamed_find_function(u, offset, ret_kind);
	}
	if (s || !section || section->has_symbols || !section->name[0] ||
	    !symtab_count(u->tab))
		return s;
	*ret_kind = UNNAMED_SECTION;
	return unnamed_make(u,
			    (struct symbol){ .offset = section->offset,
					     .size = section->bytes,
					     .vaddr = { section->vaddr } },
			    UNNAMED_SECTION, section->name);
}

const char *unnamed_section(const struct unnamed *u, uint64_t offset)
{
	const struct code_section *s = unnamed_section_at(u, offset);

	return s ? s->name : "";
}
