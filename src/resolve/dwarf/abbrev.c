/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/abbrev.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "resolve/dwarf/leb.h"
#include "resolve/dwarf/section.h"

enum {
	ABBREVS_MAX = 1 << 20,
	ATTRS_MAX = 1 << 22
};

/* Sizes of forms: a number of bytes, or one of these. */
enum {
	VARIES = 0xff,
	ADDRESS = 0xfe,
	OFFSET = 0xfd,
	REF_ADDR = 0xfc /* an address in DWARF 2, else an offset */
};

static const uint8_t form_sizes[] = {
	[0] = VARIES,
	[DW_FORM_addr] = ADDRESS,
	[2] = VARIES,
	[DW_FORM_block2] = VARIES,
	[DW_FORM_block4] = VARIES,
	[DW_FORM_data2] = 2,
	[DW_FORM_data4] = 4,
	[DW_FORM_data8] = 8,
	[DW_FORM_string] = VARIES,
	[DW_FORM_block] = VARIES,
	[DW_FORM_block1] = VARIES,
	[DW_FORM_data1] = 1,
	[DW_FORM_flag] = 1,
	[DW_FORM_sdata] = VARIES,
	[DW_FORM_strp] = OFFSET,
	[DW_FORM_udata] = VARIES,
	[DW_FORM_ref_addr] = REF_ADDR,
	[DW_FORM_ref1] = 1,
	[DW_FORM_ref2] = 2,
	[DW_FORM_ref4] = 4,
	[DW_FORM_ref8] = 8,
	[DW_FORM_ref_udata] = VARIES,
	[DW_FORM_indirect] = VARIES,
	[DW_FORM_sec_offset] = OFFSET,
	[DW_FORM_exprloc] = VARIES,
	[DW_FORM_flag_present] = 0,
	[DW_FORM_strx] = VARIES,
	[DW_FORM_addrx] = VARIES,
	[DW_FORM_ref_sup4] = 4,
	[DW_FORM_strp_sup] = OFFSET,
	[DW_FORM_data16] = 16,
	[DW_FORM_line_strp] = OFFSET,
	[DW_FORM_ref_sig8] = 8,
	[DW_FORM_implicit_const] = 0,
	[DW_FORM_loclistx] = VARIES,
	[DW_FORM_rnglistx] = VARIES,
	[DW_FORM_ref_sup8] = 8,
	[DW_FORM_strx1] = 1,
	[DW_FORM_strx2] = 2,
	[DW_FORM_strx3] = 3,
	[DW_FORM_strx4] = 4,
	[DW_FORM_addrx1] = 1,
	[DW_FORM_addrx2] = 2,
	[DW_FORM_addrx3] = 3,
	[DW_FORM_addrx4] = 4,
};

uint32_t dwarf_form_bytes(uint16_t form, const struct dwarf_widths *w)
{
	uint8_t size;

	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt)
		return w->off_bytes;
	size = form < sizeof(form_sizes) ? form_sizes[form] : VARIES;
	switch (size) {
	case VARIES:
		return DWARF_NOT_FIXED;
	case ADDRESS:
		return w->addr_bytes;
	case OFFSET:
		return w->off_bytes;
	case REF_ADDR:
		return w->version <= 2 ? w->addr_bytes : w->off_bytes;
	default:
		return size;
	}
}

static void dwarf_abbrev_skip_text(struct cursor *c)
{
	const uint8_t *end = memchr(c->data + c->pos, '\0', c->len - c->pos);

	if (end)
		c->pos = (size_t)(end - c->data) + 1;
	else
		c->failed = true;
}

void dwarf_form_skip(struct cursor *c, uint64_t form, const struct dwarf_widths *w)
{
	uint32_t bytes;

	switch (form) {
	case DW_FORM_block1:
		leb_skip(c, cursor_u8(c));
		return;
	case DW_FORM_block2:
		leb_skip(c, cursor_u16(c));
		return;
	case DW_FORM_block4:
		leb_skip(c, cursor_u32(c));
		return;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		leb_skip(c, leb_u(c));
		return;
	case DW_FORM_string:
		dwarf_abbrev_skip_text(c);
		return;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		leb_u(c);
		return;
	case DW_FORM_indirect:
		form = leb_u(c);
		/* Only one level of indirection makes sense, and an implicit_const would have
		 * no value. */
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const)
			c->failed = true;
		else
			dwarf_form_skip(c, form, w); // NOLINT(misc-no-recursion)
		return;
	default:
		bytes = form < 0x10000 ? dwarf_form_bytes((uint16_t)form, w)
				       : DWARF_NOT_FIXED;
		if (bytes == DWARF_NOT_FIXED)
			c->failed = true;
		else
			leb_skip(c, bytes);
	}
}

void dwarf_abbrev_skip(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		       struct cursor *c, const struct dwarf_widths *w)
{
	const struct dwarf_skip *s = t->skips.at + a->first_skip;

	for (uint32_t i = 0; i < a->nr_skips; i++) {
		leb_skip(c, s[i].fixed);
		if (s[i].form && !c->failed)
			dwarf_form_skip(c, s[i].form, w);
	}
}

/* Computes the skips of an abbreviation, and the offset of a sibling of four bytes. Returns false
 * if memory runs out. */
static bool dwarf_abbrev_compile(struct dwarf_abbrevs *t, struct dwarf_abbrev *a,
				 const struct dwarf_widths *w)
{
	struct dwarf_skip run = { 0 };

	a->first_skip = (uint32_t)t->skips.nr;
	a->sibling = DWARF_NO_SIBLING;
	for (uint32_t i = 0; i < a->nr_attrs; i++) {
		const struct dwarf_attr *attr = &t->attrs.at[a->first_attr + i];
		uint32_t bytes = dwarf_form_bytes(attr->form, w);

		if (attr->at == DW_AT_sibling && attr->form == DW_FORM_ref4 &&
		    t->skips.nr == a->first_skip)
			a->sibling = run.fixed;
		if (bytes != DWARF_NOT_FIXED) {
			run.fixed += bytes;
			continue;
		}
		run.form = attr->form;
		if (!vec_push(&t->skips, run))
			return false;
		run = (struct dwarf_skip){ 0 };
	}
	a->fixed = t->skips.nr == a->first_skip ? run.fixed : DWARF_NOT_FIXED;
	if (run.fixed && !vec_push(&t->skips, run))
		return false;
	a->nr_skips = (uint32_t)(t->skips.nr - a->first_skip);
	return true;
}

static bool dwarf_abbrev_has(const struct dwarf_abbrevs *t,
			     const struct dwarf_abbrev *a, uint16_t at)
{
	for (uint32_t i = 0; i < a->nr_attrs; i++) {
		if (t->attrs.at[a->first_attr + i].at == at)
			return true;
	}
	return false;
}

static enum dwarf_entry dwarf_abbrev_entry_of(const struct dwarf_abbrevs *t,
					      const struct dwarf_abbrev *a)
{
	switch (a->tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		if (dwarf_abbrev_has(t, a, DW_AT_low_pc) ||
		    dwarf_abbrev_has(t, a, DW_AT_ranges))
			return DWARF_FUNCTION;
		return a->tag == DW_TAG_subprogram ? DWARF_PASS_TYPE : DWARF_PASS;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return DWARF_PASS_TYPE;
	case DW_TAG_enumeration_type:
	case DW_TAG_array_type:
	case DW_TAG_subroutine_type:
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return DWARF_PASS_ALL;
	case DW_TAG_imported_unit:
		return DWARF_IMPORT;
	default:
		return DWARF_PASS;
	}
}

static int read_attrs(struct dwarf_abbrevs *t, struct cursor *c)
{
	for (;;) {
		struct dwarf_attr attr = { 0 };
		uint64_t at = leb_u(c);
		uint64_t form = leb_u(c);

		if (c->failed)
			return -EBADMSG;
		if (!at && !form)
			return 0;
		if (form == DW_FORM_implicit_const)
			attr.implicit = leb_s(c);
		attr.at = at < 0x10000 ? (uint16_t)at : 0xffff;
		attr.form = form < 0x10000 ? (uint16_t)form : 0xffff;
		if (t->attrs.nr >= ATTRS_MAX)
			return -EBADMSG;
		if (!vec_push(&t->attrs, attr))
			return -ENOMEM;
	}
}

static int by_code(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a;
	const struct dwarf_abbrev *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

/* Reads one abbreviation. Returns 0, 1 at the end of the table, -EBADMSG or -ENOMEM. */
static int read_one(struct dwarf_abbrevs *t, struct cursor *c,
		    const struct dwarf_widths *w)
{
	struct dwarf_abbrev a = { .code = leb_u(c) };
	uint64_t tag;
	int r;

	if (c->failed)
		return -EBADMSG;
	if (!a.code)
		return 1;
	tag = leb_u(c);
	a.tag = tag < 0x10000 ? (uint16_t)tag : 0xffff;
	a.children = cursor_u8(c) != 0;
	a.first_attr = (uint32_t)t->attrs.nr;
	r = read_attrs(t, c);
	if (r)
		return r;
	a.nr_attrs = (uint32_t)t->attrs.nr - a.first_attr;
	a.entry = (uint8_t)dwarf_abbrev_entry_of(t, &a);
	if (!dwarf_abbrev_compile(t, &a, w) || !vec_push(&t->abbrevs, a))
		return -ENOMEM;
	if (a.code != t->abbrevs.nr)
		t->dense = false;
	return t->abbrevs.nr < ABBREVS_MAX ? 0 : -EBADMSG;
}

static int dwarf_abbrev_read_all(struct dwarf_abbrevs *t, struct cursor *c,
				 const struct dwarf_widths *w, uint64_t until)
{
	int r;

	t->abbrevs.nr = 0;
	t->attrs.nr = 0;
	t->skips.nr = 0;
	t->dense = true;
	do {
		r = read_one(t, c, w);
	} while (!r && (!until || t->abbrevs.at[t->abbrevs.nr - 1].code != until));
	return r < 0 ? r : 0;
}

int dwarf_abbrevs_read(struct dwarf_abbrevs *t, struct dwarf_section *section,
		       struct dwarf_spare *spare, uint64_t off,
		       const struct dwarf_widths *w, uint64_t until)
{
	size_t len;
	const uint8_t *at = dwarf_section_at(section, spare, off, &len);
	struct cursor c = cursor_of(at, at ? len : 0, false);
	uint8_t *more = NULL;
	int r;

	if (!at)
		return -EBADMSG;
	r = dwarf_abbrev_read_all(t, &c, w, until);
	/* If the table continues after the page, read it again as one block. */
	for (uint64_t want = 1 << 20;
	     r == -EBADMSG && c.failed && len < section->bytes - off; want *= 8) {
		uint64_t left = section->bytes - off;
		size_t cap = 0;

		free(more);
		more = NULL;
		len = (size_t)(want < left ? want : left);
		r = dwarf_section_read(section, off, len, &more, &cap, &at);
		if (r)
			break;
		c = cursor_of(at, len, false);
		r = dwarf_abbrev_read_all(t, &c, w, until);
	}
	free(more);
	if (!r && !t->dense)
		qsort(t->abbrevs.at, t->abbrevs.nr, sizeof(*t->abbrevs.at), by_code);
	return r;
}

const struct dwarf_abbrev *dwarf_abbrevs_search(const struct dwarf_abbrevs *t,
						uint64_t code)
{
	struct dwarf_abbrev key = { .code = code };

	if (!t->abbrevs.nr)
		return NULL;
	return bsearch(&key, t->abbrevs.at, t->abbrevs.nr, sizeof(key), by_code);
}

void dwarf_abbrevs_done(struct dwarf_abbrevs *t)
{
	vec_done(&t->abbrevs);
	vec_done(&t->attrs);
	vec_done(&t->skips);
}

bool dwarf_abbrev_pass(const struct dwarf_abbrevs *t, const struct dwarf_abbrev *a,
		       struct cursor *c, const struct dwarf_widths *widths,
		       bool skips_children)
{
	size_t start = c->pos;
	struct cursor at;
	uint32_t sibling;

	if (a->fixed != DWARF_NOT_FIXED)
		leb_skip(c, a->fixed);
	else
		dwarf_abbrev_skip(t, a, c, widths);
	if (!a->children || !skips_children || a->sibling == DWARF_NO_SIBLING ||
	    c->failed)
		return a->children;
	at = *c;
	at.pos = start + a->sibling;
	sibling = cursor_u32(&at);
	if (at.failed || sibling <= c->pos || sibling >= c->len)
		return true;
	c->pos = sibling;
	return false;
}
