/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/ranges.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "resolve/dwarf/leb.h"

enum {
	RANGES_MAX = 1 << 20 /* for one entry */
};

static uint64_t address_mask(const struct dwarf_unit *u)
{
	return u->widths.addr_bytes >= 8
		       ? ~(uint64_t)0
		       : ((uint64_t)1 << (8 * u->widths.addr_bytes)) - 1;
}

/* Returns the file that contains the code: the program, not the split file. */
static const struct dwarf_file *code_file(const struct dwarf_unit *u)
{
	return u->skeleton ? u->skeleton->info->file : u->info->file;
}

static int dwarf_ranges_add(const struct dwarf_unit *u, dwarf_code_vec *out,
			    uint64_t low, uint64_t high)
{
	struct dwarf_code code;

	code.low = low & address_mask(u);
	code.high = high & address_mask(u);
	if (code.low >= code.high || !dwarf_file_is_code(code_file(u), code.low))
		return 0;
	return vec_push(out, code) ? 0 : -ENOMEM;
}

enum {
	LIST_ENTRY_MAX = 32,
	LIST_BYTES = 512
};

/* A list of ranges that is read in chunks. */
struct dwarf_ranges_list {
	const struct dwarf_unit *u;
	struct dwarf_reader *rd;
	struct dwarf_section *s;
	uint64_t off;
	struct cursor c;
	uint64_t base;
	/* A copy of a part of the list, because reading an address can replace the page that
	 * contains it. */
	uint8_t bytes[LIST_BYTES];
};

/* Makes a whole entry available; returns false at the section's end. */
static bool dwarf_ranges_list_fill(struct dwarf_ranges_list *l)
{
	size_t len;
	const uint8_t *at;

	if (cursor_left(&l->c) >= LIST_ENTRY_MAX)
		return true;
	l->off += l->c.pos;
	at = dwarf_section_at(l->s, &l->rd->spare, l->off, &len);
	if (!at)
		return false;
	len = len < LIST_BYTES ? len : LIST_BYTES;
	memcpy(l->bytes, at, len);
	l->c = cursor_of(l->bytes, len, l->u->info->file->elf.swap);
	return true;
}

/* Reads .debug_ranges: pairs relative to the base; a pair that begins with all ones sets the
 * base. */
static int read_pairs(struct dwarf_ranges_list *l, dwarf_code_vec *out)
{
	const struct dwarf_unit *u = l->u;
	unsigned int width = u->widths.addr_bytes;
	int r = 0;

	for (unsigned int i = 0; !r && i < RANGES_MAX && dwarf_ranges_list_fill(l);
	     i++) {
		uint64_t low = leb_word(&l->c, width);
		uint64_t high = leb_word(&l->c, width);

		if (l->c.failed || (!low && !high))
			break;
		if (low == address_mask(u))
			l->base = high;
		/* Ranges removed by a linker are 1 here, because 0 would end the list. */
		else if (low != high)
			r = dwarf_ranges_add(u, out, l->base + low, l->base + high);
	}
	return r;
}

/* Reads one entry of .debug_rnglists. Returns 1 at the end of the list. */
static int dwarf_ranges_read_entry(struct dwarf_ranges_list *l, dwarf_code_vec *out)
{
	const struct dwarf_unit *u = l->u;
	uint64_t mask = address_mask(u);
	struct cursor *c = &l->c;
	uint64_t low = 0;
	uint64_t high = 0;
	uint64_t v;

	switch (cursor_u8(c)) {
	case DW_RLE_base_addressx:
		v = leb_u(c);
		return dwarf_unit_addrx(u, l->rd, v, &l->base) ? 0 : 1;
	case DW_RLE_base_address:
		l->base = leb_word(c, u->widths.addr_bytes);
		return 0;
	case DW_RLE_startx_endx:
		low = leb_u(c);
		high = leb_u(c);
		if (!dwarf_unit_addrx(u, l->rd, low, &low) ||
		    !dwarf_unit_addrx(u, l->rd, high, &high))
			return 1;
		break;
	case DW_RLE_startx_length:
		low = leb_u(c);
		high = leb_u(c);
		if (!dwarf_unit_addrx(u, l->rd, low, &low))
			return 1;
		high += low;
		break;
	case DW_RLE_offset_pair:
		low = leb_u(c);
		high = leb_u(c);
		if (l->base >= mask - 1) /* dropped by the linker */
			return 0;
		low += l->base;
		high += l->base;
		break;
	case DW_RLE_start_end:
		low = leb_word(c, u->widths.addr_bytes);
		high = leb_word(c, u->widths.addr_bytes);
		break;
	case DW_RLE_start_length:
		low = leb_word(c, u->widths.addr_bytes);
		high = low + leb_u(c);
		break;
	default: /* DW_RLE_end_of_list, or an entry of unknown length */
		return 1;
	}
	return c->failed ? 1 : dwarf_ranges_add(u, out, low, high);
}

static int read_list(struct dwarf_ranges_list *l, dwarf_code_vec *out)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < RANGES_MAX && dwarf_ranges_list_fill(l); i++)
		r = dwarf_ranges_read_entry(l, out);
	return r < 0 ? r : 0;
}

/* Finds the offset of list number `i` in .debug_rnglists. Returns false if the section does not
 * contain it. */
static bool list_off(const struct dwarf_unit *u, struct dwarf_reader *rd, uint64_t i,
		     uint64_t *ret_off)
{
	struct dwarf_section *s = &u->info->file->sections[DWARF_RNGLISTS];
	uint64_t at;
	size_t len;
	const uint8_t *bytes;
	struct cursor c;

	if (__builtin_mul_overflow(i, (uint64_t)u->widths.off_bytes, &at) ||
	    __builtin_add_overflow(at, u->rnglists_base, &at))
		return false;
	bytes = dwarf_section_at(s, &rd->spare, at, &len);
	c = cursor_of(bytes, bytes ? len : 0, u->info->file->elf.swap);
	*ret_off = leb_word(&c, u->widths.off_bytes) + u->rnglists_base;
	return bytes && !c.failed;
}

int dwarf_ranges_read(const struct dwarf_unit *u, struct dwarf_reader *rd,
		      struct dwarf_value v, dwarf_code_vec *out)
{
	const struct dwarf_unit *owner = u;
	struct dwarf_ranges_list l;
	bool pairs = u->widths.version < 5;

	l.u = u;
	l.rd = rd;
	l.off = v.v;
	/* GNU split DWARF 4 keeps the lists in the program, relative to the skeleton's base. */
	if (pairs && u->skeleton) {
		owner = u->skeleton;
		l.off += owner->ranges_base;
	}
	l.base = u->skeleton ? u->skeleton->low : u->low;
	l.s = &owner->info->file->sections[pairs ? DWARF_RANGES : DWARF_RNGLISTS];
	if (v.kind == DWARF_VALUE_RANGEX) {
		if (!list_off(u, rd, v.v, &l.off))
			return 0;
	} else if (v.kind != DWARF_VALUE_NUMBER) {
		return 0;
	}
	l.c = cursor_of(NULL, 0, false);
	return pairs ? read_pairs(&l, out) : read_list(&l, out);
}

int dwarf_ranges_of_unit(const struct dwarf_unit *u, struct dwarf_reader *rd,
			 dwarf_code_vec *out)
{
	if (u->has_ranges)
		return dwarf_ranges_read(u, rd, u->ranges, out);
	return u->high ? dwarf_ranges_add(u, out, u->low, u->high) : 0;
}
