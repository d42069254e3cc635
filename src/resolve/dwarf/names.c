/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/names.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "resolve/dwarf/leb.h"

enum {
	STEPS_MAX = 16,
	/* Maximum size of a function's entry; usually about a hundred bytes. */
	ENTRY_BYTES_MAX = 1024,
	NAME_MAX_BYTES = 1 << 20,
	NAMES_MAX_BYTES = 1 << 28, /* maximum size of all names in one unit */
	DW_AT_MIPS_linkage = 0x2007
};

/* The location of an entry. */
struct dwarf_names_place {
	const struct dwarf_info *info;
	uint64_t off;
};

/* The result so far, while following references between entries. */
struct dwarf_names_found {
	/* Unit of the first entry of the chain of references. */
	const struct dwarf_unit *unit;
	bool has_name; /* the name is at the end of s->names */
	bool linkage;
	uint32_t name;
	uint32_t decl_file;
	uint32_t decl_line;
};

static int dwarf_names_put_name(struct dwarf_scopes *s, struct dwarf_names_found *f,
				const char *text, bool linkage)
{
	if (!text || !*text)
		return 0;
	if (s->names.len > NAMES_MAX_BYTES)
		return 0;
	/* A linkage name replaces a plain one. */
	if (f->has_name)
		s->names.len = f->name;
	f->name = (uint32_t)s->names.len;
	buf_put(&s->names, text, strnlen(text, NAME_MAX_BYTES - 1));
	buf_put_u8(&s->names, '\0');
	f->has_name = true;
	f->linkage = linkage;
	return s->names.failed ? -ENOMEM : 0;
}

static uint32_t to_u32(uint64_t v)
{
	return v < 0xffffffff ? (uint32_t)v : 0;
}

/* An entry that is being read. */
struct entry_view {
	const struct dwarf_unit *unit;
	const struct dwarf_abbrevs *abbrevs;
	struct cursor c;
	uint64_t base;            /* offset of c.data in .debug_info */
	struct dwarf_unit rooted; /* for a unit whose root entry has not been read */
	/* Copy of an entry in another unit, because reading a text can replace the page that
	 * contains the entry. */
	uint8_t bytes[ENTRY_BYTES_MAX];
};

/* Stores an attribute's value; a reference is stored in *next. */
static int dwarf_names_take(struct dwarf_scopes *s, struct dwarf_names_found *f,
			    struct dwarf_reader *rd, const struct dwarf_attr *attr,
			    struct entry_view *e, struct dwarf_names_place *next)
{
	const struct dwarf_unit *u = e->unit;
	struct dwarf_value v = dwarf_value_read(u, &e->c, e->base, attr);

	if (e->c.failed)
		return 0;
	switch (attr->at) {
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage:
		if (f->linkage)
			return 0;
		return dwarf_names_put_name(s, f, dwarf_value_text(u, rd, v), true);
	case DW_AT_name:
		if (f->has_name)
			return 0;
		return dwarf_names_put_name(
			s, f, dwarf_value_text(u, rd, v),
			dwarf_unit_is_unmangled(u->lang ? u : f->unit));
	case DW_AT_decl_file:
		if (!f->decl_file && u == f->unit)
			f->decl_file = to_u32(v.v);
		return 0;
	case DW_AT_decl_line:
		if (!f->decl_line)
			f->decl_line = to_u32(v.v);
		return 0;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		if (v.kind == DWARF_VALUE_REF)
			*next = (struct dwarf_names_place){ u->info, v.v };
		else if (v.kind == DWARF_VALUE_ALT_REF && u->info->alt)
			*next = (struct dwarf_names_place){ u->info->alt, v.v };
		return 0;
	default:
		return 0;
	}
}

/* Finds an entry, in the open unit or in another one. In another unit, reads only the bytes from
 * the entry on, at most ENTRY_BYTES_MAX. Returns false if no unit contains the entry or it is
 * not readable. */
static bool find_entry(const struct dwarf_open_unit *o, struct dwarf_reader *rd,
		       const struct dwarf_names_place *at, struct entry_view *e)
{
	const struct dwarf_unit *u = o->unit;
	const uint8_t *bytes;
	size_t len;

	if (at->info == u->info && at->off - u->off < u->bytes) {
		e->unit = u;
		e->c = o->c;
		e->c.pos = (size_t)(at->off - u->off);
		e->c.failed = false;
		e->base = u->off;
		e->abbrevs = o->abbrevs;
		return true;
	}
	u = dwarf_info_unit_at(at->info, at->off);
	if (!u)
		return false;
	e->abbrevs = dwarf_unit_abbrevs(u, rd);
	bytes = dwarf_section_at(&at->info->file->sections[DWARF_INFO], &rd->spare,
				 at->off, &len);
	if (!bytes || !e->abbrevs)
		return false;
	if (len > sizeof(e->bytes))
		len = sizeof(e->bytes);
	memcpy(e->bytes, bytes, len);
	e->unit = u;
	/* With an index, only the requested units have been read. */
	if (at->info == o->unit->info &&
	    !atomic_load_explicit(&u->root_read, memory_order_acquire)) {
		if (dwarf_unit_init_at(at->info, u->off, &e->rooted))
			return false;
		dwarf_unit_read_root(&e->rooted, rd);
		e->unit = &e->rooted;
	}
	e->c = cursor_of(e->bytes, len, at->info->file->elf.swap);
	e->base = at->off;
	return true;
}

static int dwarf_names_read_entry(struct dwarf_scopes *s, struct dwarf_names_found *f,
				  const struct dwarf_open_unit *o,
				  struct dwarf_reader *rd, struct dwarf_names_place *at)
{
	const struct dwarf_abbrev *a;
	struct dwarf_names_place next = { 0 };
	struct entry_view e;
	int r = 0;

	if (!find_entry(o, rd, at, &e)) {
		at->info = NULL;
		return 0;
	}
	a = dwarf_abbrevs_find(e.abbrevs, leb_u(&e.c));
	for (uint32_t i = 0; !r && a && i < a->nr_attrs && !e.c.failed; i++)
		r = dwarf_names_take(s, f, rd, &e.abbrevs->attrs.at[a->first_attr + i],
				     &e, &next);
	*at = next;
	return r;
}

int dwarf_names_function(struct dwarf_scopes *s, const struct dwarf_open_unit *o,
			 struct dwarf_reader *rd, const struct dwarf_info *info,
			 uint64_t off, uint32_t *ret_function)
{
	struct dwarf_names_found f = { .unit = o->unit };
	struct dwarf_names_place at = { info, off };
	struct dwarf_function function;

	for (unsigned int i = 0; at.info && i < STEPS_MAX; i++) {
		int r = dwarf_names_read_entry(s, &f, o, rd, &at);

		if (r)
			return r;
		if (f.linkage && f.decl_line)
			break;
	}
	function.name = f.has_name ? f.name : DWARF_NO_NAME;
	function.linkage = f.linkage;
	function.decl_file = f.decl_file;
	function.decl_line = f.decl_line;
	*ret_function = (uint32_t)s->functions.nr;
	if (f.has_name && !f.linkage) {
		struct dwarf_unlinked unlinked = { .info = info,
						   .off = off,
						   .function = *ret_function,
						   .is_alt = info != o->unit->info };

		if (!vec_push(&s->unlinked, unlinked))
			return -ENOMEM;
	}
	return vec_push(&s->functions, function) ? 0 : -ENOMEM;
}
