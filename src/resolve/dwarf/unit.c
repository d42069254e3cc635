/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/dwarf/leb.h"

enum {
	HEADER_MAX = 40, /* bytes of the longest header, that of a 64-bit type unit */
	ROOT_MAX = 1 << 16,
	UNIT_MAX = 0x7fffffff
};

void dwarf_reader_done(struct dwarf_reader *rd)
{
	for (size_t i = 0; i < DWARF_READER_TABLES; i++)
		dwarf_abbrevs_done(&rd->tables[i].table);
	dwarf_spare_done(&rd->spare);
	free(rd->unit_bytes);
	free(rd->root_bytes);
	free(rd->line_bytes);
	*rd = (struct dwarf_reader){ 0 };
}

void dwarf_reader_forget(struct dwarf_reader *rd)
{
	for (size_t i = 0; i < DWARF_READER_TABLES; i++)
		rd->tables[i].file = NULL;
	for (size_t i = 0; i < DWARF_SPARE_PAGES; i++)
		rd->spare.pages[i].section = NULL;
}

/* Decodes a header; returns false if it is not valid. */
static bool dwarf_unit_read_header(struct dwarf_unit *u, struct cursor *c)
{
	uint64_t length = cursor_u32(c);

	/* Nothing after a zero length can be trusted; binutils also stops there. A section of
	 * zeros would otherwise have a unit every four bytes. */
	if (!length)
		return false;
	u->widths.off_bytes = 4;
	if (length == 0xffffffff) {
		length = cursor_u64(c);
		u->widths.off_bytes = 8;
	} else if (length >= 0xfffffff0) {
		return false;
	}
	u->bytes = length + c->pos;
	if (u->bytes < length)
		return false;
	u->widths.version = (uint8_t)cursor_u16(c);
	u->type = DW_UT_compile;
	if (u->widths.version >= 5) {
		u->type = cursor_u8(c);
		u->widths.addr_bytes = cursor_u8(c);
		u->abbrev_off = leb_word(c, u->widths.off_bytes);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = cursor_u64(c);
	} else {
		u->abbrev_off = leb_word(c, u->widths.off_bytes);
		u->widths.addr_bytes = cursor_u8(c);
	}
	u->dies = (uint32_t)c->pos;
	return true;
}

/* Returns whether the unit has a supported format. */
static bool is_readable(const struct dwarf_unit *u)
{
	uint8_t a = u->widths.addr_bytes;

	return u->widths.version >= 2 && u->widths.version <= 5 &&
	       u->type != DW_UT_type && u->type != DW_UT_split_type &&
	       u->type < DW_UT_lo_user && (a == 2 || a == 4 || a == 8) &&
	       u->bytes > u->dies && u->bytes <= UNIT_MAX;
}

/* Reads the header of the unit at `off`. Returns 0, 1 (skip the unit: *u contains its size), or
 * -EBADMSG. */
static int unit_at(const struct dwarf_info *info, uint64_t off, struct dwarf_unit *u)
{
	struct dwarf_section *s = &info->file->sections[DWARF_INFO];
	uint64_t left = s->bytes - off;
	/* Read at most HEADER_MAX - 1 bytes, so that the buffer never has to grow. */
	size_t len = (size_t)(left < HEADER_MAX - 1 ? left : HEADER_MAX - 1);
	uint8_t raw[HEADER_MAX];
	uint8_t *buf = raw;
	size_t cap = sizeof(raw);
	const uint8_t *at;
	struct cursor c;

	*u = (struct dwarf_unit){ .info = info, .off = off };
	if (dwarf_section_read(s, off, len, &buf, &cap, &at))
		return -EBADMSG;
	c = cursor_of(at, len, info->file->elf.swap);
	if (!dwarf_unit_read_header(u, &c) || c.failed || u->bytes > left)
		return -EBADMSG;
	return is_readable(u) ? 0 : 1;
}

int dwarf_unit_init_at(const struct dwarf_info *info, uint64_t off,
		       struct dwarf_unit *ret_unit)
{
	if (off >= info->file->sections[DWARF_INFO].bytes)
		return -EBADMSG;
	return unit_at(info, off, ret_unit);
}

int dwarf_info_scan(struct dwarf_info *info)
{
	uint64_t end = info->file->sections[DWARF_INFO].bytes;
	struct dwarf_unit u;

	for (uint64_t off = 0; off < end; off += u.bytes) {
		int r = unit_at(info, off, &u);

		if (r < 0)
			break;
		if (!r && !vec_push(&info->units, u))
			return -ENOMEM;
	}
	return 0;
}

void dwarf_info_done(struct dwarf_info *info)
{
	vec_done(&info->units);
}

const struct dwarf_unit *dwarf_info_unit_at(const struct dwarf_info *info, uint64_t off)
{
	size_t low = 0;
	size_t high = info->units.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (info->units.at[mid].off <= off)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || off - info->units.at[low - 1].off >= info->units.at[low - 1].bytes)
		return NULL;
	return &info->units.at[low - 1];
}

bool dwarf_unit_is_c(const struct dwarf_unit *u)
{
	switch (u->lang) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

bool dwarf_unit_is_unmangled(const struct dwarf_unit *u)
{
	switch (u->lang) {
	case DW_LANG_Ada83:
	case DW_LANG_Cobol74:
	case DW_LANG_Cobol85:
	case DW_LANG_Fortran77:
	case DW_LANG_Pascal83:
	case DW_LANG_PLI:
	case DW_LANG_UPC:
		return true;
	default:
		return dwarf_unit_is_c(u);
	}
}

const struct dwarf_abbrevs *dwarf_unit_abbrevs(const struct dwarf_unit *u,
					       struct dwarf_reader *rd)
{
	const struct dwarf_file *f = u->info->file;
	size_t oldest = DWARF_READER_TABLES;

	for (size_t i = 0; i < DWARF_READER_TABLES; i++) {
		if (rd->tables[i].file == f && rd->tables[i].off == u->abbrev_off &&
		    memcmp(&rd->tables[i].widths, &u->widths, sizeof(u->widths)) == 0) {
			rd->tables[i].used = ++rd->clock;
			return &rd->tables[i].table;
		}
		if (&rd->tables[i].table != rd->open &&
		    (oldest == DWARF_READER_TABLES ||
		     rd->tables[i].used < rd->tables[oldest].used))
			oldest = i;
	}
	rd->tables[oldest].file = NULL;
	if (dwarf_abbrevs_read(&rd->tables[oldest].table,
			       &u->info->file->sections[DWARF_ABBREV], &rd->spare,
			       u->abbrev_off, &u->widths, 0))
		return NULL;
	rd->tables[oldest].file = f;
	rd->tables[oldest].off = u->abbrev_off;
	rd->tables[oldest].widths = u->widths;
	rd->tables[oldest].used = ++rd->clock;
	return &rd->tables[oldest].table;
}

int dwarf_unit_open(struct dwarf_open_unit *o, const struct dwarf_unit *u,
		    struct dwarf_reader *rd)
{
	const uint8_t *bytes;
	int r;

	o->unit = u;
	rd->open = NULL;
	o->abbrevs = dwarf_unit_abbrevs(u, rd);
	rd->open = o->abbrevs;
	if (!o->abbrevs)
		return -EBADMSG;
	r = dwarf_section_read(&u->info->file->sections[DWARF_INFO], u->off, u->bytes,
			       &rd->unit_bytes, &rd->unit_cap, &bytes);
	if (r)
		return r;
	o->c = cursor_of(bytes, (size_t)u->bytes, u->info->file->elf.swap);
	o->c.pos = u->dies;
	return 0;
}

/* Values of the root entry. Addresses are computed after reading all attributes, because the
 * bases can come last. */
struct root {
	struct dwarf_value low;
	struct dwarf_value high;
	bool high_is_addr;
};

static void take_root_attr(struct dwarf_unit *u, struct root *root, uint16_t at,
			   struct dwarf_value v)
{
	switch (at) {
	case DW_AT_name:
		u->name = v;
		break;
	case DW_AT_comp_dir:
		u->comp_dir = v;
		break;
	case DW_AT_language:
		u->lang = (uint16_t)v.v;
		break;
	case DW_AT_stmt_list:
		u->has_line = true;
		u->line_off = v.v;
		break;
	case DW_AT_low_pc:
		root->low = v;
		break;
	case DW_AT_high_pc:
		root->high = v;
		break;
	case DW_AT_ranges:
		u->has_ranges = true;
		u->ranges = v;
		break;
	case DW_AT_str_offsets_base:
		u->str_base = v.v;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		u->addr_base = v.v;
		break;
	case DW_AT_rnglists_base:
		u->rnglists_base = v.v;
		break;
	case DW_AT_GNU_ranges_base:
		u->ranges_base = v.v;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		u->dwo_name = v;
		break;
	case DW_AT_GNU_dwo_id:
		u->dwo_id = v.v;
		break;
	default:
		break;
	}
}

static void finish_root(struct dwarf_unit *u, struct dwarf_reader *rd,
			const struct root *root)
{
	uint64_t high;

	if (root->low.kind == DWARF_VALUE_NONE ||
	    !dwarf_value_addr(u, rd, root->low, &u->low))
		return;
	if (root->high.kind == DWARF_VALUE_NUMBER)
		high = u->low + root->high.v;
	else if (!dwarf_value_addr(u, rd, root->high, &high))
		return;
	if (high > u->low) {
		u->high = high;
		u->has_code = true;
	}
}

/* Parses the root entry of a unit, of which the cursor has at least the beginning. Returns false if
 * the entry is malformed or longer than the cursor's bytes. */
static bool dwarf_unit_parse_root(struct dwarf_unit *u, struct dwarf_reader *rd,
				  struct cursor *c, const struct dwarf_abbrevs *t)
{
	const struct dwarf_abbrev *a;
	struct root root = { 0 };

	a = dwarf_abbrevs_find(t, leb_u(c));
	if (!a)
		return false;
	for (uint32_t i = 0; i < a->nr_attrs && !c->failed; i++) {
		const struct dwarf_attr *attr = &t->attrs.at[a->first_attr + i];

		take_root_attr(u, &root, attr->at,
			       dwarf_value_read(u, c, u->off + u->dies, attr));
	}
	if (c->failed)
		return false;
	finish_root(u, rd, &root);
	if (u->has_ranges)
		u->has_code = true;
	return true;
}

void dwarf_unit_read_root(struct dwarf_unit *u, struct dwarf_reader *rd)
{
	struct dwarf_file *f = u->info->file;
	struct dwarf_section *s = &f->sections[DWARF_INFO];
	/* Only the first abbreviation is needed: nearly always it is the root's. */
	struct dwarf_abbrevs first = { 0 };
	uint64_t left = u->bytes - u->dies;
	size_t len = (size_t)(left < 512 ? left : 512);
	bool good = false;

	u->str_base = u->str_part;
	u->rnglists_base = u->rnglists_part;
	/* Split files do not contain the bases: tables begin after the section's header. */
	if (u->widths.version >= 5 && f->is_dwo) {
		u->str_base += u->widths.off_bytes * 2;
		u->rnglists_base += u->widths.off_bytes * 2 + 4;
	}
	for (int try = 0; try < 2 && !good; try++) {
		const uint8_t *at;
		struct cursor c;
		struct cursor code;

		if (dwarf_section_read(s, u->off + u->dies, len, &rd->root_bytes,
				       &rd->root_cap, &at))
			break;
		c = cursor_of(at, len, f->elf.swap);
		code = c;
		if (!dwarf_abbrevs_read(&first, &f->sections[DWARF_ABBREV], &rd->spare,
					u->abbrev_off, &u->widths, leb_u(&code)))
			good = dwarf_unit_parse_root(u, rd, &c, &first);
		len = (size_t)(left < ROOT_MAX ? left : ROOT_MAX);
	}
	u->bad_root = !good;
	atomic_store_explicit(&u->root_read, true, memory_order_release);
	dwarf_abbrevs_done(&first);
}

/* NOLINTNEXTLINE(readability-function-size): the range and id are what is searched for */
int dwarf_unit_find_split(const struct dwarf_info *info, uint64_t off, uint64_t end,
			  uint64_t id, const struct dwarf_parts *parts,
			  struct dwarf_reader *rd, struct dwarf_unit *ret_unit)
{
	struct dwarf_unit u;

	for (; off < end; off += u.bytes) {
		int r = dwarf_unit_init_at(info, off, &u);

		if (r < 0)
			break;
		/* In DWARF 5 the header has the id, in GNU's DWARF 4 the root entry. */
		if (r || (u.widths.version >= 5 && u.dwo_id != id))
			continue;
		if (parts) {
			u.abbrev_off += parts->abbrev;
			u.str_part = parts->str_offsets;
			u.rnglists_part = parts->rnglists;
		}
		dwarf_unit_read_root(&u, rd);
		if (!u.bad_root && u.dwo_id == id) {
			*ret_unit = u;
			return 0;
		}
	}
	return -ENOENT;
}
