/* SPDX-License-Identifier: GPL-2.0-or-later */
/* value.c - reads attribute values, and the data in other sections that they refer to. */
#include <dwarf.h>
#include <stdlib.h>

#include "resolve/dwarf/leb.h"
#include "resolve/dwarf/unit.h"

static uint64_t take_u24(struct cursor *c)
{
	const uint8_t *at = cursor_take(c, 3);
	bool big = c->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

	if (!at)
		return 0;
	return big ? (uint64_t)at[0] << 16 | (uint64_t)at[1] << 8 | at[2]
		   : (uint64_t)at[2] << 16 | (uint64_t)at[1] << 8 | at[0];
}

static struct dwarf_value dwarf_value_make(enum dwarf_value_kind kind, uint64_t v)
{
	return (struct dwarf_value){ kind, v };
}

static struct dwarf_value dwarf_value_skip(const struct dwarf_unit *u, struct cursor *c,
					   uint64_t form)
{
	dwarf_form_skip(c, form, &u->widths);
	return dwarf_value_make(DWARF_VALUE_NONE, 0);
}

static struct dwarf_value read_ref(const struct dwarf_unit *u, struct cursor *c,
				   uint64_t form)
{
	uint64_t v;

	switch (form) {
	case DW_FORM_ref1:
		v = cursor_u8(c);
		break;
	case DW_FORM_ref2:
		v = cursor_u16(c);
		break;
	case DW_FORM_ref4:
		v = cursor_u32(c);
		break;
	case DW_FORM_ref8:
		v = cursor_u64(c);
		break;
	case DW_FORM_ref_udata:
		v = leb_u(c);
		break;
	default: /* DW_FORM_ref_addr */
		v = leb_word(c, u->widths.version <= 2 ? u->widths.addr_bytes
						       : u->widths.off_bytes);
		return dwarf_value_make(DWARF_VALUE_REF, v);
	}
	return dwarf_value_make(DWARF_VALUE_REF, u->off + v);
}

static struct dwarf_value read_index(struct cursor *c, uint64_t form)
{
	switch (form) {
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		return dwarf_value_make(DWARF_VALUE_STRX, leb_u(c));
	case DW_FORM_strx1:
		return dwarf_value_make(DWARF_VALUE_STRX, cursor_u8(c));
	case DW_FORM_strx2:
		return dwarf_value_make(DWARF_VALUE_STRX, cursor_u16(c));
	case DW_FORM_strx3:
		return dwarf_value_make(DWARF_VALUE_STRX, take_u24(c));
	case DW_FORM_strx4:
		return dwarf_value_make(DWARF_VALUE_STRX, cursor_u32(c));
	case DW_FORM_addrx1:
		return dwarf_value_make(DWARF_VALUE_ADDRX, cursor_u8(c));
	case DW_FORM_addrx2:
		return dwarf_value_make(DWARF_VALUE_ADDRX, cursor_u16(c));
	case DW_FORM_addrx3:
		return dwarf_value_make(DWARF_VALUE_ADDRX, take_u24(c));
	case DW_FORM_addrx4:
		return dwarf_value_make(DWARF_VALUE_ADDRX, cursor_u32(c));
	case DW_FORM_rnglistx:
		return dwarf_value_make(DWARF_VALUE_RANGEX, leb_u(c));
	default: /* DW_FORM_addrx, DW_FORM_GNU_addr_index */
		return dwarf_value_make(DWARF_VALUE_ADDRX, leb_u(c));
	}
}

struct dwarf_value dwarf_value_read(const struct dwarf_unit *u, struct cursor *c,
				    uint64_t base, const struct dwarf_attr *attr)
{
	uint64_t form = attr->form;
	uint64_t v;

	if (form == DW_FORM_indirect) {
		form = leb_u(c);
		if (form == DW_FORM_indirect || form == DW_FORM_implicit_const) {
			c->failed = true;
			return dwarf_value_make(DWARF_VALUE_NONE, 0);
		}
	}
	switch (form) {
	case DW_FORM_addr:
		return dwarf_value_make(DWARF_VALUE_ADDR,
					leb_word(c, u->widths.addr_bytes));
	case DW_FORM_data1:
	case DW_FORM_flag:
		return dwarf_value_make(DWARF_VALUE_NUMBER, cursor_u8(c));
	case DW_FORM_data2:
		return dwarf_value_make(DWARF_VALUE_NUMBER, cursor_u16(c));
	case DW_FORM_data4:
		return dwarf_value_make(DWARF_VALUE_NUMBER, cursor_u32(c));
	case DW_FORM_data8:
		return dwarf_value_make(DWARF_VALUE_NUMBER, cursor_u64(c));
	case DW_FORM_udata:
		return dwarf_value_make(DWARF_VALUE_NUMBER, leb_u(c));
	case DW_FORM_sdata:
		return dwarf_value_make(DWARF_VALUE_NUMBER, (uint64_t)leb_s(c));
	case DW_FORM_implicit_const:
		return dwarf_value_make(DWARF_VALUE_NUMBER, (uint64_t)attr->implicit);
	case DW_FORM_flag_present:
		return dwarf_value_make(DWARF_VALUE_NUMBER, 1);
	case DW_FORM_sec_offset:
		return dwarf_value_make(DWARF_VALUE_NUMBER,
					leb_word(c, u->widths.off_bytes));
	case DW_FORM_string:
		v = base + c->pos;
		dwarf_form_skip(c, form, &u->widths);
		return dwarf_value_make(DWARF_VALUE_TEXT, v);
	case DW_FORM_strp:
		return dwarf_value_make(DWARF_VALUE_STRP,
					leb_word(c, u->widths.off_bytes));
	case DW_FORM_line_strp:
		return dwarf_value_make(DWARF_VALUE_LINE_STRP,
					leb_word(c, u->widths.off_bytes));
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return dwarf_value_make(DWARF_VALUE_ALT_STRP,
					leb_word(c, u->widths.off_bytes));
	case DW_FORM_GNU_ref_alt:
		return dwarf_value_make(DWARF_VALUE_ALT_REF,
					leb_word(c, u->widths.off_bytes));
	case DW_FORM_ref_sup4:
		return dwarf_value_make(DWARF_VALUE_ALT_REF, cursor_u32(c));
	case DW_FORM_ref_sup8:
		return dwarf_value_make(DWARF_VALUE_ALT_REF, cursor_u64(c));
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
	case DW_FORM_ref_addr:
		return read_ref(u, c, form);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_rnglistx:
		return read_index(c, form);
	default:
		return dwarf_value_skip(u, c, form);
	}
}

/* Reads the number of `width` bytes at `off` of a section; returns false if it is out of range. */
static bool dwarf_value_word_at(const struct dwarf_unit *u, struct dwarf_section *s,
				struct dwarf_reader *rd, uint64_t off,
				unsigned int width, uint64_t *ret_v)
{
	size_t len;
	const uint8_t *at = dwarf_section_at(s, &rd->spare, off, &len);
	struct cursor c;

	if (!at)
		return false;
	c = cursor_of(at, len, u->info->file->elf.swap);
	*ret_v = leb_word(&c, width);
	return !c.failed;
}

/* Computes the offset of an entry in a table that begins at `base`; returns false on overflow. */
static bool entry_off(uint64_t base, uint64_t i, unsigned int width, uint64_t *ret_off)
{
	return !__builtin_mul_overflow(i, (uint64_t)width, ret_off) &&
	       !__builtin_add_overflow(*ret_off, base, ret_off);
}

bool dwarf_unit_addrx(const struct dwarf_unit *u, struct dwarf_reader *rd, uint64_t i,
		      uint64_t *ret_addr)
{
	/* The addresses of a split unit are in the file of its skeleton, the program. */
	const struct dwarf_unit *owner = u->skeleton ? u->skeleton : u;
	uint64_t off;

	return entry_off(owner->addr_base, i, u->widths.addr_bytes, &off) &&
	       dwarf_value_word_at(owner, &owner->info->file->sections[DWARF_ADDR], rd,
				   off, u->widths.addr_bytes, ret_addr);
}

bool dwarf_value_addr(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, uint64_t *ret_addr)
{
	if (v.kind == DWARF_VALUE_ADDR) {
		*ret_addr = v.v;
		return true;
	}
	return v.kind == DWARF_VALUE_ADDRX && dwarf_unit_addrx(u, rd, v.v, ret_addr);
}

const char *dwarf_value_text(const struct dwarf_unit *u, struct dwarf_reader *rd,
			     struct dwarf_value v)
{
	const struct dwarf_info *info = u->info;
	enum dwarf_section_kind kind = DWARF_STR;
	uint64_t off = v.v;

	switch (v.kind) {
	case DWARF_VALUE_TEXT:
		kind = DWARF_INFO;
		break;
	case DWARF_VALUE_STRP:
		break;
	case DWARF_VALUE_LINE_STRP:
		kind = DWARF_LINE_STR;
		break;
	case DWARF_VALUE_ALT_STRP:
		info = info->alt;
		break;
	case DWARF_VALUE_STRX:
		if (!entry_off(u->str_base, v.v, u->widths.off_bytes, &off) ||
		    !dwarf_value_word_at(u, &info->file->sections[DWARF_STR_OFFSETS],
					 rd, off, u->widths.off_bytes, &off))
			return NULL;
		break;
	case DWARF_VALUE_NONE:
	case DWARF_VALUE_NUMBER:
	case DWARF_VALUE_ADDR:
	case DWARF_VALUE_ADDRX:
	case DWARF_VALUE_REF:
	case DWARF_VALUE_ALT_REF:
	case DWARF_VALUE_RANGEX:
	default:
		return NULL;
	}
	if (!info)
		return NULL;
	return dwarf_section_text(&info->file->sections[kind], &rd->spare, off);
}
