/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_run.c - the state machine of line number programs. */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "resolve/dwarf/leb.h"
#include "resolve/dwarf/line.h"

enum {
	ROWS_MAX = 1 << 27,
	LINE_MAX_NUMBER = 0x7fffffff
};

struct sequence {
	uint64_t low;
	uint64_t high;
	size_t first;
	size_t nr;
};

/* The registers (DWARF 5, 6.2.2) and the start of the current sequence. */
struct dwarf_line_run_machine {
	struct dwarf_program *p;
	const struct dwarf_file *code; /* the file that contains the code */
	struct dwarf_row row;
	uint32_t op_index;
	size_t first; /* first row of the sequence */
	bool sorted;
	dwarf_row_vec *rows;
	VEC(struct sequence) sequences;
};

static void reset(struct dwarf_line_run_machine *m)
{
	m->row = (struct dwarf_row){ .file = 1, .line = 1 };
	m->op_index = 0;
	m->first = m->rows->nr;
	m->sorted = true;
}

/* Adds a row; the last of several rows at one address wins. Returns false if there are too many
 * rows or memory runs out. */
static bool dwarf_line_run_emit(struct dwarf_line_run_machine *m)
{
	dwarf_row_vec *rows = m->rows;

	if (rows->nr > m->first) {
		struct dwarf_row *last = &rows->at[rows->nr - 1];

		if (last->addr == m->row.addr) {
			*last = m->row;
			return true;
		}
		if (last->addr > m->row.addr)
			m->sorted = false;
		/* Skip a row with the same line as the previous row. */
		if (!m->row.end && last->line == m->row.line &&
		    last->file == m->row.file && last->column == m->row.column &&
		    last->discriminator == m->row.discriminator)
			return true;
	}
	return rows->nr < ROWS_MAX && vec_push(rows, m->row);
}

static void dwarf_line_run_advance(struct dwarf_line_run_machine *m, uint64_t ops)
{
	const struct dwarf_program *p = m->p;

	if (p->max_ops == 1) {
		m->row.addr += p->min_inst * ops;
		return;
	}
	ops += m->op_index;
	m->row.addr += p->min_inst * (ops / p->max_ops);
	m->op_index = (uint32_t)(ops % p->max_ops);
}

/* Compares rows for qsort(). Equal addresses need a stable sort; glibc's is stable unless it
 * lacks memory. */
static int by_addr(const void *a, const void *b)
{
	const struct dwarf_row *x = a;
	const struct dwarf_row *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static bool end_sequence(struct dwarf_line_run_machine *m)
{
	struct sequence s = { .first = m->first };
	bool good = true;

	m->row.end = true;
	m->row.line = 0;
	if (!dwarf_line_run_emit(m))
		return false;
	if (!m->sorted)
		qsort(m->rows->at + s.first, m->rows->nr - s.first,
		      sizeof(*m->rows->at), by_addr);
	s.nr = m->rows->nr - s.first;
	s.low = m->rows->at[s.first].addr;
	s.high = m->rows->at[m->rows->nr - 1].addr;
	if (s.low < s.high && dwarf_file_is_code(m->code, s.low))
		good = vec_push(&m->sequences, s);
	else
		m->rows->nr = s.first;
	reset(m);
	return good;
}

static bool extended(struct dwarf_line_run_machine *m, struct cursor *c)
{
	uint64_t len = leb_u(c);
	size_t end;
	bool good = true;

	if (!len || c->failed || len > c->len - c->pos) {
		c->failed |= len != 0;
		return true;
	}
	end = c->pos + (size_t)len;
	switch (cursor_u8(c)) {
	case DW_LNE_end_sequence:
		good = end_sequence(m);
		break;
	case DW_LNE_set_address:
		m->row.addr = leb_word(c, (unsigned int)len - 1);
		m->op_index = 0;
		break;
	case DW_LNE_define_file: {
		size_t pos = c->pos;
		struct dwarf_path path = { .text = (const char *)c->data + pos };

		if (!memchr(c->data + pos, '\0', end - pos))
			break;
		c->pos += strlen(path.text) + 1;
		path.dir = leb_u(c);
		good = m->p->files.nr < ROWS_MAX && vec_push(&m->p->files, path);
		break;
	}
	case DW_LNE_set_discriminator:
		m->row.discriminator = (uint32_t)leb_u(c);
		break;
	default:
		break;
	}
	c->pos = end;
	return good;
}

static void dwarf_line_run_add_line(struct dwarf_line_run_machine *m, int64_t delta)
{
	m->row.line = (m->row.line + (uint32_t)delta) & LINE_MAX_NUMBER;
}

static void special(struct dwarf_line_run_machine *m, uint8_t op)
{
	const struct dwarf_program *p = m->p;
	unsigned int adjusted = op - p->opcode_base;

	if (!p->line_range)
		return;
	dwarf_line_run_advance(m, adjusted / p->line_range);
	dwarf_line_run_add_line(m, p->line_base + (int)(adjusted % p->line_range));
}

static uint16_t to_column(uint64_t v)
{
	return v > 0xffff ? 0xffff : (uint16_t)v;
}

static bool dwarf_line_run_copy(struct dwarf_line_run_machine *m)
{
	bool good = dwarf_line_run_emit(m);

	m->row.discriminator = 0;
	return good;
}

static bool standard(struct dwarf_line_run_machine *m, struct cursor *c, uint8_t op)
{
	const struct dwarf_program *p = m->p;

	switch (op) {
	case DW_LNS_copy:
		return dwarf_line_run_copy(m);
	case DW_LNS_advance_pc:
		dwarf_line_run_advance(m, leb_u(c));
		break;
	case DW_LNS_advance_line:
		dwarf_line_run_add_line(m, leb_s(c));
		break;
	case DW_LNS_set_file:
		m->row.file = (uint32_t)leb_u(c);
		break;
	case DW_LNS_set_column:
		m->row.column = to_column(leb_u(c));
		break;
	case DW_LNS_const_add_pc:
		if (p->line_range)
			dwarf_line_run_advance(m,
					       (255U - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->row.addr += cursor_u16(c);
		m->op_index = 0;
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	default:
		for (unsigned int i = 0; i < p->opcode_args[op]; i++)
			leb_u(c);
	}
	return true;
}

static bool dwarf_line_run_one(struct dwarf_line_run_machine *m)
{
	struct cursor c = m->p->c;
	uint8_t opcode_base = m->p->opcode_base;
	bool good = true;

	reset(m);
	while (good && !c.failed && c.pos < c.len) {
		uint8_t op = c.data[c.pos++];

		if (op >= opcode_base) {
			special(m, op);
			good = dwarf_line_run_copy(m);
		} else if (op) {
			good = standard(m, &c, op);
		} else {
			good = extended(m, &c);
		}
	}
	/* Drop the rows of a sequence without an end, which is invalid. */
	m->rows->nr = m->first;
	return good;
}

static int dwarf_line_run_by_low(const void *a, const void *b)
{
	const struct sequence *x = a;
	const struct sequence *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* Appends the rows of `s` below `limit` to `out`, followed by an end row at `limit`. */
static void put_sequence(const struct sequence *s, const dwarf_row_vec *rows,
			 uint64_t limit, dwarf_row_vec *out)
{
	for (size_t i = 0; out->at && i < s->nr; i++) {
		struct dwarf_row row = rows->at[s->first + i];

		if (row.addr >= limit) {
			row.addr = limit;
			row.end = true;
		}
		/* Replace the end row of a previous sequence that ends at this address. */
		if (out->nr && out->at[out->nr - 1].addr == row.addr)
			out->nr--;
		out->at[out->nr++] = row;
		if (row.end)
			break;
	}
}

static bool in_order(const struct dwarf_line_run_machine *m)
{
	for (size_t i = 1; m->sequences.at && i < m->sequences.nr; i++) {
		if (m->sequences.at[i].low < m->sequences.at[i - 1].high)
			return false;
	}
	return true;
}

static int dwarf_line_run_put_in_order(struct dwarf_line_run_machine *m,
				       dwarf_row_vec *out)
{
	size_t nr = m->sequences.nr;

	if (!nr)
		return 0;
	if (!vec_reserve(out, m->rows->nr + 1))
		return -ENOMEM;
	qsort(m->sequences.at, nr, sizeof(*m->sequences.at), dwarf_line_run_by_low);
	for (size_t i = 0; i < nr; i++) {
		const struct sequence *s = &m->sequences.at[i];
		uint64_t limit = s->high;

		/* If sequences overlap, the later one wins. */
		if (i + 1 < nr && s[1].low < limit)
			limit = s[1].low;
		if (limit > s->low)
			put_sequence(s, m->rows, limit, out);
	}
	return 0;
}

int dwarf_program_run(struct dwarf_program *p, dwarf_row_vec *out)
{
	dwarf_row_vec rows = *out;
	struct dwarf_line_run_machine m = { .p = p,
					    .code = p->unit->info->file,
					    .rows = &rows };
	int r = 0;

	rows.nr = 0;
	if (!dwarf_line_run_one(&m)) {
		*out = rows;
		out->nr = 0;
		vec_done(&m.sequences);
		return -ENOMEM;
	}
	*out = rows;
	if (!in_order(&m)) {
		dwarf_row_vec sorted = { 0 };

		r = dwarf_line_run_put_in_order(&m, &sorted);
		vec_done(out);
		*out = sorted;
	}
	vec_done(&m.sequences);
	return r;
}
