/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/block_make.h"

#include <errno.h>

#include "resolve/lines/block.h"

enum {
	FILES_MAX = 1 << 24,
	/* Maximum size of a row, span or scope: six numbers of ten bytes. */
	ENTRY_BYTES_MAX = 64,
	/* Value in file_of of a file that has no path: its number, 0, plus 1. */
	FILE_NONE = 1
};

/* Returns the block's number of a file, assigned in the order of use from 1; 0: no file. */
static uint32_t file_number(struct line_block_maker *m, const struct line_paths *p,
			    uint32_t file)
{
	size_t at = m->strings.len;

	if (!p || file >= FILES_MAX)
		return 0;
	while (m->file_of.nr <= file) {
		if (!vec_push(&m->file_of, 0)) {
			m->strings.failed = true;
			return 0;
		}
	}
	if (m->file_of.at[file])
		return m->file_of.at[file] - 1;
	m->file_of.at[file] = FILE_NONE;
	if (p->append(p->ctx, file, &m->strings) || m->strings.failed)
		return 0;
	if (!vec_push(&m->files, (uint32_t)at)) {
		m->strings.failed = true;
		return 0;
	}
	m->file_of.at[file] = (uint32_t)m->files.nr + 1;
	return (uint32_t)m->files.nr;
}

/* Writes a number; the caller has reserved the memory. */
static uint8_t *quick_varint(uint8_t *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*at++ = (uint8_t)v;
	return at;
}

static uint8_t *quick_svarint(uint8_t *at, int64_t v)
{
	return quick_varint(at, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* Returns the end of `b`, with room for an entry; NULL (and failed) if out of memory. */
static uint8_t *quick_begin(struct buf *b)
{
	if (b->cap - b->len < ENTRY_BYTES_MAX && !buf_reserve(b, ENTRY_BYTES_MAX))
		return NULL;
	return b->data + b->len;
}

static void quick_end(struct buf *b, const uint8_t *at)
{
	b->len = (size_t)(at - b->data);
}

static bool head(struct line_block_maker *m, uint64_t addr, size_t at)
{
	return vec_push(&m->heads, addr) && vec_push(&m->starts, (uint32_t)at);
}

/* Writes a row as its difference to the previous one: a byte that describes the changes, then
 * the changes. */
static void line_block_make_put_row(struct line_block_maker *m,
				    const struct line_row *row,
				    const struct line_row *last)
{
	uint64_t delta = row->addr - last->addr;
	uint8_t what = delta < LINE_ROW_FAR ? (uint8_t)delta : LINE_ROW_FAR;
	uint8_t *at;

	if (row->file_number != last->file_number)
		what |= LINE_ROW_FILE;
	if (row->line != last->line)
		what |= LINE_ROW_LINE;
	if (row->column != last->column)
		what |= LINE_ROW_COLUMN;
	if (row->discriminator != last->discriminator)
		what |= LINE_ROW_DISCRIMINATOR;
	at = quick_begin(&m->rows);
	if (!at)
		return;
	*at++ = what;
	if (delta >= LINE_ROW_FAR)
		at = quick_varint(at, delta);
	if (what & LINE_ROW_FILE)
		at = quick_varint(at, row->file_number);
	if (what & LINE_ROW_LINE)
		at = quick_svarint(at, (int64_t)row->line - (int64_t)last->line);
	if (what & LINE_ROW_COLUMN)
		at = quick_varint(at, row->column);
	if (what & LINE_ROW_DISCRIMINATOR)
		at = quick_varint(at, row->discriminator);
	quick_end(&m->rows, at);
}

/* Converts a row. The end of a sequence becomes a row without file, with line 0 and the column
 * LINE_ROW_END_COLUMN. */
static struct line_row line_block_make_row_of(struct line_block_maker *m,
					      const struct line_paths *p,
					      const struct dwarf_row *in)
{
	struct line_row row = { .addr = in->addr };

	if (in->end) {
		row.column = LINE_ROW_END_COLUMN;
		return row;
	}
	row.file_number = file_number(m, p, in->file);
	row.line = in->line;
	row.column = in->column;
	row.discriminator = in->discriminator;
	return row;
}

static bool line_block_make_put_rows(struct line_block_maker *m,
				     const struct line_paths *p,
				     const dwarf_row_vec *rows)
{
	struct line_row last = { 0 };

	for (size_t i = 0; i < rows->nr; i++) {
		struct line_row row = line_block_make_row_of(m, p, &rows->at[i]);

		if (i % LINE_GROUP == 0) {
			last = (struct line_row){ .addr = row.addr };
			if (!head(m, row.addr, m->rows.len))
				return false;
		}
		line_block_make_put_row(m, &row, &last);
		last = row;
	}
	return !m->rows.failed;
}

static bool put_scopes(struct line_block_maker *m, const struct line_paths *p,
		       const struct dwarf_scopes *s)
{
	uint64_t base = s->spans.nr ? s->spans.at[0].addr : 0;

	for (size_t i = 0; i < s->scopes.nr; i++) {
		const struct dwarf_scope *scope = &s->scopes.at[i];
		size_t at = m->scopes.len;
		bool inlined = scope->parent != DWARF_NO_SCOPE;
		uint8_t *out;

		if (!vec_push(&m->scope_at, (uint32_t)at))
			return false;
		out = quick_begin(&m->scopes);
		if (!out)
			return false;
		out = quick_varint(out, (uint64_t)scope->function << 1 | inlined);
		if (inlined) {
			out = quick_varint(out, at - m->scope_at.at[scope->parent]);
			out = quick_varint(out, file_number(m, p, scope->call_file));
			out = quick_varint(out, scope->call_line);
			/* The lowest bit: a discriminator follows, which few calls have. */
			out = quick_varint(out, (uint64_t)scope->call_column << 1 |
							!!scope->call_discriminator);
			if (scope->call_discriminator)
				out = quick_varint(out, scope->call_discriminator);
		} else {
			out = quick_svarint(out, (int64_t)(scope->start - base));
		}
		quick_end(&m->scopes, out);
	}
	return !m->scopes.failed;
}

static bool put_spans(struct line_block_maker *m, const struct dwarf_scopes *s)
{
	uint64_t addr = 0;
	int64_t last = 0;

	for (size_t i = 0; i < s->spans.nr; i++) {
		const struct dwarf_span *span = &s->spans.at[i];
		int64_t scope = span->scope == DWARF_NO_SCOPE
					? 0
					: (int64_t)m->scope_at.at[span->scope] + 1;
		uint8_t *out;

		if (i % LINE_GROUP == 0 && !head(m, span->addr, m->spans.len))
			return false;
		out = quick_begin(&m->spans);
		if (!out)
			return false;
		if (i % LINE_GROUP == 0)
			last = 0;
		else
			out = quick_varint(out, span->addr - addr);
		quick_end(&m->spans, quick_svarint(out, scope - last));
		addr = span->addr;
		last = scope;
	}
	return !m->spans.failed;
}

static bool line_block_make_put_functions(struct line_block_maker *m,
					  const struct line_paths *p,
					  const struct dwarf_scopes *s)
{
	uint32_t base = (uint32_t)m->strings.len;

	buf_put(&m->strings, s->names.data, s->names.len);
	for (size_t i = 0; i < s->functions.nr; i++) {
		const struct dwarf_function *f = &s->functions.at[i];
		uint32_t name = f->name == DWARF_NO_NAME ? 0 : base + f->name;

		buf_put_u32(&m->functions, name << 1 | f->linkage);
		buf_put_u32(&m->functions, file_number(m, p, f->decl_file));
		buf_put_u32(&m->functions, f->decl_line);
	}
	return !m->functions.failed;
}

static void line_block_make_put_heads(const struct line_block_maker *m, size_t first,
				      size_t nr, struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		buf_put_u64(out, m->heads.at[first + i]);
}

static void line_block_make_put_starts(const struct line_block_maker *m, size_t first,
				       size_t nr, struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		buf_put_u32(out, m->starts.at[first + i]);
}

/* Writes the header, the tables and the streams, in the order that line_block_open() expects. */
static int line_block_make_put_all(const struct line_block_maker *m,
				   const dwarf_row_vec *rows,
				   const struct dwarf_scopes *s, size_t span_heads,
				   struct buf *out)
{
	size_t row_heads = m->heads.nr - span_heads;
	uint64_t total = (uint64_t)m->strings.len + m->scopes.len + m->spans.len +
			 m->rows.len + m->functions.len + m->heads.nr * 12 +
			 m->files.nr * 4;

	if (total > 0x7fffffff)
		return -EFBIG;
	buf_put_u32(out, (uint32_t)rows->nr);
	buf_put_u32(out, (uint32_t)(s ? s->spans.nr : 0));
	buf_put_u32(out, (uint32_t)row_heads);
	buf_put_u32(out, (uint32_t)span_heads);
	buf_put_u32(out, (uint32_t)m->files.nr);
	buf_put_u32(out, (uint32_t)(s ? s->functions.nr : 0));
	buf_put_u32(out, (uint32_t)m->rows.len);
	buf_put_u32(out, (uint32_t)m->spans.len);
	buf_put_u32(out, (uint32_t)m->scopes.len);
	buf_put_u32(out, (uint32_t)m->strings.len);
	buf_put_u32(out, 0);
	line_block_make_put_heads(m, span_heads, row_heads, out);
	line_block_make_put_heads(m, 0, span_heads, out);
	line_block_make_put_starts(m, span_heads, row_heads, out);
	line_block_make_put_starts(m, 0, span_heads, out);
	for (size_t i = 0; i < m->files.nr; i++)
		buf_put_u32(out, m->files.at[i]);
	buf_put(out, m->functions.data, m->functions.len);
	buf_put(out, m->rows.data, m->rows.len);
	buf_put(out, m->spans.data, m->spans.len);
	buf_put(out, m->scopes.data, m->scopes.len);
	buf_put(out, m->strings.data, m->strings.len);
	return out->failed ? -ENOMEM : 0;
}

static void line_block_make_clear(struct line_block_maker *m)
{
	m->file_of.nr = 0;
	m->files.nr = 0;
	m->scope_at.nr = 0;
	m->heads.nr = 0;
	m->starts.nr = 0;
	buf_clear(&m->strings);
	buf_clear(&m->scopes);
	buf_clear(&m->spans);
	buf_clear(&m->rows);
	buf_clear(&m->functions);
	/* Offset 0 is "no name". */
	buf_put_u8(&m->strings, 0);
}

int line_block_make(struct line_block_maker *m, const struct line_paths *p,
		    const dwarf_row_vec *rows, const struct dwarf_scopes *s,
		    struct buf *out)
{
	size_t span_heads;

	line_block_make_clear(m);
	if (s && (!put_scopes(m, p, s) || !put_spans(m, s) ||
		  !line_block_make_put_functions(m, p, s)))
		return -ENOMEM;
	span_heads = m->heads.nr;
	if (!line_block_make_put_rows(m, p, rows) || m->strings.failed)
		return -ENOMEM;
	return line_block_make_put_all(m, rows, s, span_heads, out);
}

void line_block_maker_done(struct line_block_maker *m)
{
	vec_done(&m->file_of);
	vec_done(&m->files);
	vec_done(&m->scope_at);
	vec_done(&m->heads);
	vec_done(&m->starts);
	buf_done(&m->strings);
	buf_done(&m->scopes);
	buf_done(&m->spans);
	buf_done(&m->rows);
	buf_done(&m->functions);
}
