/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/block.h"

#include <errno.h>
#include <string.h>

#include "base/cursor.h"
#include "resolve/dwarf/leb.h"

static uint32_t line_block_u32_at(const uint8_t *table, uint32_t i)
{
	struct cursor c = cursor_le(table + (size_t)i * 4, 4);

	return cursor_u32(&c);
}

static uint64_t line_block_u64_at(const uint8_t *table, uint32_t i)
{
	struct cursor c = cursor_le(table + (size_t)i * 8, 8);

	return cursor_u64(&c);
}

static const uint8_t *line_block_take(struct cursor *c, uint64_t nr, uint64_t each)
{
	static const uint8_t none[1];
	const uint8_t *at = cursor_take(c, (size_t)(nr * each));

	return at ? at : none;
}

static uint32_t groups(uint32_t nr)
{
	return nr / LINE_GROUP + (nr % LINE_GROUP != 0);
}

int line_block_open(struct line_block *b, const void *bytes, size_t len)
{
	struct cursor c = cursor_le(bytes, len);

	b->bytes = bytes;
	b->len = len;
	b->nr_rows = cursor_u32(&c);
	b->nr_spans = cursor_u32(&c);
	b->nr_row_groups = cursor_u32(&c);
	b->nr_span_groups = cursor_u32(&c);
	b->nr_files = cursor_u32(&c);
	b->nr_functions = cursor_u32(&c);
	b->rows_len = cursor_u32(&c);
	b->spans_len = cursor_u32(&c);
	b->scopes_len = cursor_u32(&c);
	b->strings_len = cursor_u32(&c);
	cursor_u32(&c);
	b->row_addrs = line_block_take(&c, b->nr_row_groups, 8);
	b->span_addrs = line_block_take(&c, b->nr_span_groups, 8);
	b->row_at = line_block_take(&c, b->nr_row_groups, 4);
	b->span_at = line_block_take(&c, b->nr_span_groups, 4);
	b->files = line_block_take(&c, b->nr_files, 4);
	b->functions = line_block_take(&c, b->nr_functions, LINE_FUNCTION_BYTES);
	b->rows = line_block_take(&c, b->rows_len, 1);
	b->spans = line_block_take(&c, b->spans_len, 1);
	b->scopes = line_block_take(&c, b->scopes_len, 1);
	b->strings = (const char *)line_block_take(&c, b->strings_len, 1);
	if (c.failed || c.pos != len || !b->strings_len ||
	    b->strings[b->strings_len - 1] || groups(b->nr_rows) != b->nr_row_groups ||
	    groups(b->nr_spans) != b->nr_span_groups)
		return -EBADMSG;
	return 0;
}

/* Returns the last group that begins at or before `addr`; `nr` if there is no such group. */
static uint32_t find_group(const uint8_t *addrs, uint32_t nr, uint64_t addr)
{
	uint32_t low = 0;
	uint32_t high = nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (line_block_u64_at(addrs, mid) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : nr;
}

static uint32_t in_group(uint32_t nr, uint32_t group)
{
	uint32_t left = nr - group * LINE_GROUP;

	return left < LINE_GROUP ? left : LINE_GROUP;
}

static const char *line_block_string_at(const struct line_block *b, uint32_t at)
{
	return at && at < b->strings_len ? b->strings + at : NULL;
}

const char *line_block_file(const struct line_block *b, uint32_t number)
{
	if (!number || number > b->nr_files)
		return NULL;
	return line_block_string_at(b, line_block_u32_at(b->files, number - 1));
}

/* Like leb_u(), for numbers that are known to end within the data. */
static inline uint64_t quick_leb(const uint8_t **at)
{
	uint64_t v = *(*at)++;

	if (v < 0x80)
		return v;
	v &= 0x7f;
	for (unsigned int shift = 7; shift < 70; shift += 7) {
		uint8_t byte = *(*at)++;

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return v;
}

enum {
	ROW_BYTES_MAX = 1 + 5 * 10 /* quick_leb() reads at most ten bytes */
};

/* Reads a row. Lines and columns nearly always have one byte; the function uses no branch to
 * find out whether one is present, because the CPU cannot predict it. */
static inline const uint8_t *quick_row(const uint8_t *at, struct line_row *row)
{
	uint8_t what = *at++;
	uint32_t step = what & LINE_ROW_FAR;
	uint64_t line = 0;
	uint32_t has;

	row->addr += step == LINE_ROW_FAR ? quick_leb(&at) : step;
	if (what & LINE_ROW_FILE)
		row->file_number = (uint32_t)quick_leb(&at);
	has = (what & LINE_ROW_LINE) != 0;
	if (has & *at >> 7) {
		line = quick_leb(&at);
	} else {
		line = *at & (0 - has);
		at += has;
	}
	row->line += (uint32_t)(line >> 1) ^ (0 - (uint32_t)(line & 1));
	has = (what & LINE_ROW_COLUMN) != 0;
	if (has & *at >> 7) {
		row->column = (uint32_t)quick_leb(&at);
	} else {
		row->column = (*at & (0 - has)) | (row->column & (has - 1));
		at += has;
	}
	if (what & LINE_ROW_DISCRIMINATOR)
		row->discriminator = (uint32_t)quick_leb(&at);
	return at;
}

/* Reads the row at the cursor, given the previous one. */
static void next_row(struct cursor *c, struct line_row *row)
{
	uint8_t last[2 * ROW_BYTES_MAX] = { 0 };
	size_t left = cursor_left(c);
	size_t used;

	if (left >= ROW_BYTES_MAX) {
		c->pos = (size_t)(quick_row(c->data + c->pos, row) - c->data);
		return;
	}
	/* The last rows are read from a copy that is padded with zeros. */
	if (left)
		memcpy(last, c->data + c->pos, left);
	used = (size_t)(quick_row(last, row) - last);
	if (used > left)
		c->failed = true;
	else
		c->pos += used;
}

static void finish_row(const struct line_block *b, struct line_row *row)
{
	row->end = !row->file_number && row->column == LINE_ROW_END_COLUMN;
	row->file = line_block_file(b, row->file_number);
	if (row->end)
		row->column = 0;
}

/* Returns a cursor at a group's first row, and the row to which that is relative. */
static struct cursor line_block_group_rows(const struct line_block *b, uint32_t group,
					   struct line_row *ret_row)
{
	struct cursor c = cursor_le(b->rows, b->rows_len);
	uint32_t at = line_block_u32_at(b->row_at, group);

	*ret_row = (struct line_row){ .addr = line_block_u64_at(b->row_addrs, group) };
	if (at > c.len)
		c.failed = true;
	else
		c.pos = at;
	return c;
}

void line_seek_begin(struct line_seek *s, const struct line_block *b)
{
	*s = (struct line_seek){ .block = b };
}

/* Returns whether `addr` is outside of the run's group, or nothing has been read. */
static bool is_elsewhere(const struct line_run *r, uint64_t addr)
{
	return !r->high || addr < r->low || addr >= r->group_high;
}

/* Moves the run to the group of `addr`, which usually is the next one. Returns false if there
 * is none. */
static bool enter_group(struct line_run *r, const uint8_t *heads, uint32_t nr,
			uint64_t addr)
{
	uint32_t group = r->group + 1;

	if (!r->high || addr < r->low || group >= nr ||
	    line_block_u64_at(heads, group) > addr ||
	    (group + 1 < nr && line_block_u64_at(heads, group + 1) <= addr))
		group = find_group(heads, nr, addr);
	r->high = 0;
	if (group >= nr)
		return false;
	r->group = group;
	r->group_high =
		group + 1 < nr ? line_block_u64_at(heads, group + 1) : UINT64_MAX;
	return true;
}

/* Makes the next row the current one, and reads the row after it. Returns false if that row is
 * damaged. */
static bool step_row(struct line_seek *s)
{
	struct line_run *r = &s->rows;
	struct cursor c = cursor_le(s->block->rows, s->block->rows_len);

	s->row = s->next;
	r->low = s->row.addr;
	r->high = r->group_high;
	if (!r->left)
		return true;
	c.pos = r->pos;
	next_row(&c, &s->next);
	r->pos = c.pos;
	r->left--;
	r->high = c.failed ? 0 : s->next.addr;
	return !c.failed;
}

static bool open_row_group(struct line_seek *s, uint64_t addr)
{
	const struct line_block *b = s->block;
	struct line_run *r = &s->rows;
	struct cursor c;

	if (!enter_group(r, b->row_addrs, b->nr_row_groups, addr))
		return false;
	c = line_block_group_rows(b, r->group, &s->next);
	if (!c.failed)
		next_row(&c, &s->next);
	r->pos = c.pos;
	r->left = in_group(b->nr_rows, r->group) - 1;
	return !c.failed && step_row(s);
}

/* Repeats step_row() up to `addr`, without checks, as long as no row can extend beyond the block's
 * end. */
static void step_rows(struct line_seek *s, uint64_t addr)
{
	const struct line_block *b = s->block;
	struct line_run *r = &s->rows;
	const uint8_t *at = b->rows + r->pos;
	struct line_row row = s->row;
	struct line_row next = s->next;
	uint32_t left = r->left;

	if (r->high > addr || (uint64_t)left * ROW_BYTES_MAX > b->rows_len - r->pos)
		return;
	while (left && next.addr <= addr) {
		row = next;
		at = quick_row(at, &next);
		left--;
	}
	s->row = row;
	s->next = next;
	r->low = row.addr;
	r->high = next.addr;
	r->left = left;
	r->pos = (size_t)(at - b->rows);
}

bool line_seek_row(struct line_seek *s, uint64_t addr, struct line_row *ret_row)
{
	if (is_elsewhere(&s->rows, addr) && !open_row_group(s, addr))
		return false;
	step_rows(s, addr);
	/* The last row has no end, and also covers the last address. */
	while (s->rows.high <= addr && s->rows.high != UINT64_MAX) {
		if (!step_row(s))
			return false;
	}
	*ret_row = s->row;
	finish_row(s->block, ret_row);
	return !ret_row->end;
}

bool line_block_row(const struct line_block *b, uint64_t addr, struct line_row *ret_row)
{
	struct line_seek s;

	line_seek_begin(&s, b);
	return line_seek_row(&s, addr, ret_row);
}

static void walk_group(struct line_row_walk *w, uint32_t group)
{
	struct cursor c;

	w->group = group;
	w->left = 0;
	if (group >= w->block->nr_row_groups)
		return;
	c = line_block_group_rows(w->block, group, &w->row);
	w->pos = c.pos;
	w->left = c.failed ? 0 : in_group(w->block->nr_rows, group);
}

void line_row_walk_begin(struct line_row_walk *w, const struct line_block *b,
			 uint64_t addr)
{
	uint32_t group = find_group(b->row_addrs, b->nr_row_groups, addr);
	struct line_row_walk at = { .block = b };
	struct line_row row;

	if (group >= b->nr_row_groups)
		group = 0;
	walk_group(&at, group);
	*w = at;
	/* Advance to the last row that is not after `addr`. */
	for (struct line_row_walk next = at; line_row_walk_next(&next, &row);) {
		if (row.addr > addr)
			break;
		*w = at;
		at = next;
	}
}

bool line_row_walk_next(struct line_row_walk *w, struct line_row *ret_row)
{
	struct cursor c;

	if (!w->left)
		walk_group(w, w->group + 1);
	if (!w->left)
		return false;
	c = cursor_le(w->block->rows, w->block->rows_len);
	c.pos = w->pos;
	next_row(&c, &w->row);
	if (c.failed)
		return false;
	w->pos = c.pos;
	w->left--;
	*ret_row = w->row;
	finish_row(w->block, ret_row);
	return true;
}

static int64_t line_block_zigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Reads the end of the span whose scope was read. Returns false if it is damaged. */
static bool end_span(struct line_seek *s, struct cursor *c)
{
	struct line_run *r = &s->spans;

	r->high = r->group_high;
	if (r->left) {
		r->high = r->low + leb_u(c);
		r->left--;
	}
	r->pos = c->pos;
	if (c->failed)
		r->high = 0;
	return !c->failed;
}

static bool step_span(struct line_seek *s)
{
	struct line_run *r = &s->spans;
	struct cursor c = cursor_le(s->block->spans, s->block->spans_len);

	c.pos = r->pos;
	r->low = r->high;
	s->scope += line_block_zigzag(leb_u(&c));
	return end_span(s, &c);
}

static bool open_span_group(struct line_seek *s, uint64_t addr)
{
	const struct line_block *b = s->block;
	struct line_run *r = &s->spans;
	struct cursor c = cursor_le(b->spans, b->spans_len);

	if (!enter_group(r, b->span_addrs, b->nr_span_groups, addr))
		return false;
	c.pos = line_block_u32_at(b->span_at, r->group);
	if (c.pos > c.len)
		return false;
	r->left = in_group(b->nr_spans, r->group) - 1;
	r->low = line_block_u64_at(b->span_addrs, r->group);
	s->scope = line_block_zigzag(leb_u(&c));
	return end_span(s, &c);
}

uint32_t line_seek_scope(struct line_seek *s, uint64_t addr)
{
	if (is_elsewhere(&s->spans, addr) && !open_span_group(s, addr))
		return LINE_NO_SCOPE;
	while (s->spans.high <= addr && s->spans.high != UINT64_MAX) {
		if (!step_span(s))
			return LINE_NO_SCOPE;
	}
	if (s->scope <= 0 || (uint64_t)s->scope > s->block->scopes_len)
		return LINE_NO_SCOPE;
	return (uint32_t)(s->scope - 1);
}

uint32_t line_block_scope_at(const struct line_block *b, uint64_t addr)
{
	struct line_seek s;

	line_seek_begin(&s, b);
	return line_seek_scope(&s, addr);
}

static bool line_block_take_function(const struct line_block *b, uint64_t number,
				     struct line_scope *s)
{
	struct cursor c;
	uint32_t name;

	if (number >= b->nr_functions)
		return false;
	c = cursor_le(b->functions + number * LINE_FUNCTION_BYTES, LINE_FUNCTION_BYTES);
	name = cursor_u32(&c);
	s->linkage = name & 1;
	s->name = line_block_string_at(b, name >> 1);
	s->decl_file = line_block_file(b, cursor_u32(&c));
	s->decl_line = cursor_u32(&c);
	return true;
}

bool line_block_scope(const struct line_block *b, uint32_t id, struct line_scope *ret)
{
	struct line_scope s = { .id = id, .parent = LINE_NO_SCOPE };
	struct cursor c = cursor_le(b->scopes, b->scopes_len);
	uint64_t number;
	uint64_t up;
	uint64_t column;

	if (id >= b->scopes_len)
		return false;
	c.pos = id;
	number = leb_u(&c);
	s.inlined = number & 1;
	if (!line_block_take_function(b, number >> 1, &s))
		return false;
	if (s.inlined) {
		up = leb_u(&c);
		if (!up || up > id)
			return false;
		s.parent = id - (uint32_t)up;
		s.call_file = line_block_file(b, (uint32_t)leb_u(&c));
		s.call_line = (uint32_t)leb_u(&c);
		column = leb_u(&c);
		s.call_column = (uint32_t)(column >> 1);
		if (column & 1)
			s.call_discriminator = (uint32_t)leb_u(&c);
	}
	if (!s.inlined && b->nr_span_groups)
		s.start = line_block_u64_at(b->span_addrs, 0) +
			  (uint64_t)line_block_zigzag(leb_u(&c));
	if (c.failed)
		return false;
	*ret = s;
	return true;
}
