/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/package.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cursor.h"

enum {
	COLUMNS_MAX = 16,
	UNITS_MAX = 1 << 24,
	INDEX_MAX_BYTES = 1 << 30
};

struct dwarf_package_table {
	struct cursor c;
	uint32_t version;
	uint32_t nr_columns;
	uint32_t nr_units;
	uint32_t nr_slots;
	size_t ids; /* offsets of the parts of the index */
	size_t rows;
	size_t columns;
	size_t offsets;
	size_t sizes;
};

static int open_table(const struct dwarf_info *info, struct dwarf_section *s,
		      struct dwarf_package_table *t)
{
	size_t need;

	if (!s->bytes)
		return -ENOENT;
	if (s->bytes > INDEX_MAX_BYTES || dwarf_section_load(s))
		return -EBADMSG;
	t->c = cursor_of(s->whole, (size_t)s->bytes, info->file->elf.swap);
	t->version = cursor_u32(&t->c);
	if (t->version != 2) { /* two bytes, then two of padding */
		t->c.pos = 0;
		t->version = cursor_u16(&t->c);
		cursor_u16(&t->c);
	}
	t->nr_columns = cursor_u32(&t->c);
	t->nr_units = cursor_u32(&t->c);
	t->nr_slots = cursor_u32(&t->c);
	if (t->c.failed || (t->version != 2 && t->version != 5) ||
	    t->nr_columns > COLUMNS_MAX || t->nr_units > UNITS_MAX ||
	    t->nr_slots > UNITS_MAX || (t->nr_slots & (t->nr_slots - 1)))
		return -EBADMSG;
	t->ids = t->c.pos;
	t->rows = t->ids + (size_t)t->nr_slots * 8;
	t->columns = t->rows + (size_t)t->nr_slots * 4;
	t->offsets = t->columns + (size_t)t->nr_columns * 4;
	t->sizes = t->offsets + (size_t)t->nr_units * t->nr_columns * 4;
	need = t->sizes + (size_t)t->nr_units * t->nr_columns * 4;
	return need > t->c.len ? -EBADMSG : 0;
}

static uint64_t dwarf_package_u64_at(struct cursor c, size_t pos)
{
	c.pos = pos;
	return cursor_u64(&c);
}

static uint32_t dwarf_package_u32_at(struct cursor c, size_t pos)
{
	c.pos = pos;
	return cursor_u32(&c);
}

/* Returns the row of an id in the index, counted from 1; 0: the index does not have the id. */
static uint32_t dwarf_package_find_row(const struct dwarf_package_table *t, uint64_t id)
{
	uint64_t mask = t->nr_slots - 1;
	uint64_t slot = id & mask;
	uint64_t step = ((id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < t->nr_slots; i++) {
		uint32_t row = dwarf_package_u32_at(t->c, t->rows + slot * 4);

		if (!row)
			return 0;
		if (dwarf_package_u64_at(t->c, t->ids + slot * 8) == id)
			return row <= t->nr_units ? row : 0;
		slot = (slot + step) & mask;
	}
	return 0;
}

int dwarf_package_find(const struct dwarf_info *info, uint64_t id,
		       struct dwarf_reader *rd, struct dwarf_unit *ret_unit)
{
	struct dwarf_package_table t;
	uint64_t at[COLUMNS_MAX] = { 0 };
	struct dwarf_parts parts;
	uint64_t info_bytes = 0;
	uint32_t row;
	int r = open_table(info, &info->file->sections[DWARF_CU_INDEX], &t);

	if (r)
		return r;
	row = t.nr_slots ? dwarf_package_find_row(&t, id) : 0;
	if (!row)
		return -ENOENT;
	for (uint32_t i = 0; i < t.nr_columns; i++) {
		uint32_t column = dwarf_package_u32_at(t.c, t.columns + (size_t)i * 4);
		size_t cell = ((size_t)(row - 1) * t.nr_columns + i) * 4;

		if (column >= COLUMNS_MAX)
			continue;
		at[column] = dwarf_package_u32_at(t.c, t.offsets + cell);
		if (column == DW_SECT_INFO)
			info_bytes = dwarf_package_u32_at(t.c, t.sizes + cell);
	}
	parts.abbrev = at[DW_SECT_ABBREV];
	parts.str_offsets = at[DW_SECT_STR_OFFSETS];
	parts.rnglists = t.version == 5 ? at[DW_SECT_RNGLISTS] : 0;
	return dwarf_unit_find_split(info, at[DW_SECT_INFO],
				     at[DW_SECT_INFO] + info_bytes, id, &parts, rd,
				     ret_unit);
}
