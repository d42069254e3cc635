/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/scopes.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "resolve/dwarf/flatten.h"
#include "resolve/dwarf/leb.h"
#include "resolve/dwarf/names.h"
#include "resolve/dwarf/qualify.h"

enum {
	SCOPES_MAX = 1 << 26,
	/* Maximum number of ranges of a unit; 64 MB of code need a tenth of it. */
	RANGES_MAX = 1 << 22,
	DW_AT_MIPS_linkage = 0x2007,
	DW_AT_call_block = 0x2136 /* DW_AT_GNU_discriminator */
};

struct dwarf_scopes_walk {
	struct dwarf_scopes *s;
	struct dwarf_open_unit *o;
	struct dwarf_reader *rd;
	uint32_t stack[DWARF_DEPTH_MAX]; /* the enclosing scope at each level */
	unsigned int depth;
};

/* The attributes read from one function's entry. */
struct dwarf_scopes_entry {
	uint64_t off; /* in .debug_info */
	struct dwarf_value low;
	struct dwarf_value high;
	struct dwarf_value ranges;
	struct dwarf_value origin;
	bool named; /* has its own name */
	uint32_t call_file;
	uint32_t call_line;
	uint32_t call_column;
	uint32_t call_discriminator;
};

static void take_attr(struct dwarf_scopes_entry *e, uint16_t at, struct dwarf_value v)
{
	switch (at) {
	case DW_AT_low_pc:
		e->low = v;
		break;
	case DW_AT_high_pc:
		e->high = v;
		break;
	case DW_AT_ranges:
		e->ranges = v;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		e->origin = v;
		break;
	case DW_AT_name:
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage:
		e->named = true;
		break;
	case DW_AT_call_file:
		e->call_file = (uint32_t)v.v;
		break;
	case DW_AT_call_line:
		e->call_line = (uint32_t)v.v;
		break;
	case DW_AT_call_column:
		e->call_column = (uint32_t)v.v;
		break;
	case DW_AT_call_block:
		e->call_discriminator = (uint32_t)v.v;
		break;
	default:
		break;
	}
}

static int dwarf_scopes_read_code(const struct dwarf_scopes_walk *w,
				  const struct dwarf_scopes_entry *e)
{
	const struct dwarf_unit *u = w->o->unit;
	const struct dwarf_unit *owner = u->skeleton ? u->skeleton : u;
	struct dwarf_code code;

	w->s->code.nr = 0;
	/* A damaged unit can refer to the same long list many times. */
	if (w->s->ranges.nr > RANGES_MAX)
		return -EBADMSG;
	if (e->ranges.kind != DWARF_VALUE_NONE)
		return dwarf_ranges_read(u, w->rd, e->ranges, &w->s->code);
	if (!dwarf_value_addr(u, w->rd, e->low, &code.low))
		return 0;
	if (e->high.kind == DWARF_VALUE_NUMBER)
		code.high = code.low + e->high.v;
	else if (!dwarf_value_addr(u, w->rd, e->high, &code.high))
		return 0;
	if (code.high <= code.low || !dwarf_file_is_code(owner->info->file, code.low))
		return 0;
	return vec_push(&w->s->code, code) ? 0 : -ENOMEM;
}

/* Finds the function that an entry is an instance of; reads it at the first use. */
static int dwarf_scopes_find_function(const struct dwarf_scopes_walk *w,
				      const struct dwarf_scopes_entry *e,
				      uint32_t *ret_function)
{
	const struct dwarf_info *info = w->o->unit->info;
	uint64_t off = e->off;
	struct map_slot *slot;
	bool is_new;
	int r;

	if (!e->named && e->origin.kind == DWARF_VALUE_REF) {
		off = e->origin.v;
	} else if (!e->named && e->origin.kind == DWARF_VALUE_ALT_REF && info->alt) {
		off = e->origin.v;
		info = info->alt;
	}
	slot = map_at(&w->s->by_entry, off, info == w->o->unit->info, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		r = dwarf_names_function(w->s, w->o, w->rd, info, off, ret_function);
		if (r)
			return r;
		slot->value_plus_1 = *ret_function + 1;
	}
	*ret_function = slot->value_plus_1 - 1;
	return 0;
}

static int add_scope(struct dwarf_scopes_walk *w, const struct dwarf_scopes_entry *e,
		     bool inlined, uint32_t *ret_scope)
{
	struct dwarf_scopes *s = w->s;
	struct dwarf_scope scope = { .parent = DWARF_NO_SCOPE,
				     .start = s->code.at[0].low };
	uint32_t number = (uint32_t)s->scopes.nr;
	int r;

	if (inlined) {
		scope.parent = w->stack[w->depth];
		scope.call_file = e->call_file;
		scope.call_line = e->call_line;
		scope.call_column = e->call_column;
		scope.call_discriminator = e->call_discriminator;
	}
	if (s->scopes.nr >= SCOPES_MAX)
		return -EBADMSG;
	r = dwarf_scopes_find_function(w, e, &scope.function);
	if (r)
		return r;
	if (!vec_push(&s->scopes, scope))
		return -ENOMEM;
	for (size_t i = 0; i < s->code.nr; i++) {
		struct dwarf_scope_range range = { s->code.at[i].low,
						   s->code.at[i].high, number };

		if (!vec_push(&s->ranges, range))
			return -ENOMEM;
	}
	*ret_scope = number;
	return 0;
}

/* Reads a function that might have code; *ret_scope is the scope of its children. */
static int dwarf_scopes_take_function(struct dwarf_scopes_walk *w, struct cursor *c,
				      uint64_t off, const struct dwarf_abbrev *a,
				      uint32_t *ret_scope)
{
	const struct dwarf_unit *u = w->o->unit;
	const struct dwarf_attr *attrs = w->o->abbrevs->attrs.at + a->first_attr;
	bool inlined = a->tag == DW_TAG_inlined_subroutine;
	struct dwarf_scopes_entry e = { .off = off };
	int r;

	for (uint32_t i = 0; i < a->nr_attrs && !c->failed; i++)
		take_attr(&e, attrs[i].at, dwarf_value_read(u, c, u->off, &attrs[i]));
	if (c->failed)
		return -EBADMSG;
	r = dwarf_scopes_read_code(w, &e);
	if (r)
		return r;
	/* The linker removed the function with its contents, or it is an instance without code. */
	if (!w->s->code.nr)
		*ret_scope = inlined ? w->stack[w->depth] : DWARF_NO_SCOPE;
	else
		r = add_scope(w, &e, inlined, ret_scope);
	return r;
}

/* Skips an unwanted entry; also its children, if they cannot contain functions and the entry
 * has a sibling. Returns whether its children come next. */
static bool pass(struct dwarf_scopes_walk *w, struct cursor *c,
		 const struct dwarf_abbrev *a, bool is_c)
{
	return dwarf_abbrev_pass(w->o->abbrevs, a, c, &w->o->unit->widths,
				 a->entry == DWARF_PASS_ALL ||
					 (a->entry == DWARF_PASS_TYPE && is_c));
}

static int walk_entries(struct dwarf_scopes_walk *w)
{
	struct cursor c = w->o->c;
	const struct dwarf_abbrevs *abbrevs = w->o->abbrevs;
	bool is_c = dwarf_unit_is_c(w->o->unit);
	int r;

	while (c.pos < c.len && !c.failed) {
		uint64_t off = w->o->unit->off + c.pos;
		uint64_t code = leb_u(&c);
		const struct dwarf_abbrev *a;
		uint32_t scope;

		if (!code) {
			if (w->depth <= 1)
				return 0;
			w->depth--;
			continue;
		}
		a = dwarf_abbrevs_find(abbrevs, code);
		if (!a)
			return -EBADMSG;
		scope = w->stack[w->depth];
		if (a->entry == DWARF_FUNCTION) {
			r = dwarf_scopes_take_function(w, &c, off, a, &scope);
			if (r)
				return r;
			if (!a->children)
				continue;
		} else if (!pass(w, &c, a, is_c)) {
			continue;
		}
		if (w->depth + 1 >= DWARF_DEPTH_MAX)
			return -EBADMSG;
		w->stack[++w->depth] = scope;
	}
	return c.failed ? -EBADMSG : 0;
}

static void dwarf_scopes_clear(struct dwarf_scopes *s)
{
	s->scopes.nr = 0;
	s->functions.nr = 0;
	s->unlinked.nr = 0;
	s->ranges.nr = 0;
	s->spans.nr = 0;
	buf_clear(&s->names);
	map_done(&s->by_entry);
}

int dwarf_scopes_read(struct dwarf_scopes *s, struct dwarf_open_unit *o,
		      struct dwarf_reader *rd)
{
	struct dwarf_scopes_walk w = { .s = s, .o = o, .rd = rd };
	int qualified;
	int flattened;
	int r;

	dwarf_scopes_clear(s);
	w.stack[0] = DWARF_NO_SCOPE;
	r = walk_entries(&w);
	if (r == -ENOMEM)
		return r;
	qualified = dwarf_qualify(s, o, rd);
	if (qualified)
		return qualified;
	flattened = dwarf_flatten(s);
	return flattened ? flattened : r;
}

void dwarf_scopes_done(struct dwarf_scopes *s)
{
	dwarf_scopes_clear(s);
	vec_done(&s->scopes);
	vec_done(&s->functions);
	vec_done(&s->unlinked);
	vec_done(&s->ranges);
	vec_done(&s->spans);
	vec_done(&s->code);
	vec_done(&s->heap);
	buf_done(&s->names);
}
