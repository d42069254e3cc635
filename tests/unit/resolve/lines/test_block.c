/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a block returns what was stored: rows, spans, and chains of inlined calls; and
 * that invalid blocks are refused. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/lines/block.h"
#include "resolve/lines/block_make.h"

enum {
	NR_ROWS = 100, /* several groups */
	STEP = 5
};

/* f at [1000, 1500), with g inlined at [1100, 1200), and h inlined in that at [1150, 1160). */
static void fill_scopes(struct dwarf_scopes *s)
{
	static const char names[] = "f\0g\0h";
	struct dwarf_scope f = { .parent = DWARF_NO_SCOPE, .start = 1000 };
	struct dwarf_scope g = { .parent = 0, .function = 1, .call_line = 10 };
	struct dwarf_scope h = { .parent = 1, .function = 2, .call_line = 20 };
	static const struct dwarf_span spans[] = {
		{ 1000, 0 }, { 1100, 1 }, { 1150, 2 },
		{ 1160, 1 }, { 1200, 0 }, { 1500, DWARF_NO_SCOPE },
	};

	buf_put(&s->names, names, sizeof(names));
	for (uint32_t i = 0; i < 3; i++) {
		struct dwarf_function function = { .name = 2 * i, .linkage = i == 0 };

		assert_true(vec_push(&s->functions, function));
	}
	assert_true(vec_push(&s->scopes, f) && vec_push(&s->scopes, g) &&
		    vec_push(&s->scopes, h));
	for (size_t i = 0; i < COUNT_OF(spans); i++)
		assert_true(vec_push(&s->spans, spans[i]));
}

static void fill_rows(dwarf_row_vec *rows)
{
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		struct dwarf_row row = { .addr = 1000 + (uint64_t)i * STEP,
					 .line = i % 7 * 100 + 1,
					 .column = (uint16_t)(i % 3),
					 .discriminator = i % 11 == 0,
					 .end = i + 1 == NR_ROWS };

		assert_true(vec_push(rows, row));
	}
}

static void make(struct buf *out)
{
	struct line_block_maker maker = { 0 };
	struct dwarf_scopes scopes = { 0 };
	dwarf_row_vec rows = { 0 };

	fill_scopes(&scopes);
	fill_rows(&rows);
	assert_int_equal(line_block_make(&maker, NULL, &rows, &scopes, out), 0);
	line_block_maker_done(&maker);
	dwarf_scopes_done(&scopes);
	vec_done(&rows);
}

static void test_rows(void **state)
{
	struct buf out = { 0 };
	struct line_block b;
	struct line_row row;

	(void)state;
	make(&out);
	assert_int_equal(line_block_open(&b, out.data, out.len), 0);
	assert_false(line_block_row(&b, 999, &row));
	for (uint64_t at = 1000; at < 1000 + (NR_ROWS - 1) * STEP; at++) {
		uint32_t i = (uint32_t)(at - 1000) / STEP;

		assert_true(line_block_row(&b, at, &row));
		assert_int_equal(row.addr, 1000 + i * STEP);
		assert_int_equal(row.line, i % 7 * 100 + 1);
		assert_int_equal(row.column, i % 3);
		assert_int_equal(row.discriminator, i % 11 == 0);
		assert_null(row.file);
	}
	assert_false(line_block_row(&b, 1000 + (NR_ROWS - 1) * STEP, &row));
	buf_done(&out);
}

static void test_walk(void **state)
{
	struct buf out = { 0 };
	struct line_row_walk walk;
	struct line_block b;
	struct line_row row;
	uint64_t at = 1160;

	(void)state;
	make(&out);
	assert_int_equal(line_block_open(&b, out.data, out.len), 0);
	line_row_walk_begin(&walk, &b, 1163);
	for (; line_row_walk_next(&walk, &row); at += STEP)
		assert_int_equal(row.addr, at);
	assert_int_equal(at, 1000 + NR_ROWS * STEP);
	assert_true(row.end);
	buf_done(&out);
}

static void expect_seek(struct line_seek *s, uint64_t at)
{
	uint32_t i = (uint32_t)(at - 1000) / STEP;
	struct line_row row;

	assert_true(line_seek_row(s, at, &row));
	assert_int_equal(row.addr, 1000 + i * STEP);
	assert_int_equal(row.line, i % 7 * 100 + 1);
	assert_int_equal(row.column, i % 3);
	assert_int_equal(row.discriminator, i % 11 == 0);
	assert_int_equal(s->rows.low, 1000 + i * STEP);
	assert_int_equal(s->rows.high, 1000 + (i + 1) * STEP);
}

/* The result does not depend on the previous lookup or on its distance. */
static void test_seek(void **state)
{
	const uint64_t end = 1000 + (NR_ROWS - 1) * STEP;
	struct buf out = { 0 };
	struct line_block b;
	struct line_seek s;
	struct line_row row;

	(void)state;
	make(&out);
	assert_int_equal(line_block_open(&b, out.data, out.len), 0);
	line_seek_begin(&s, &b);
	assert_false(line_seek_row(&s, 999, &row));
	for (uint64_t step = 1; step < 300; step += 7) {
		for (uint64_t at = 1000; at < end; at += step)
			expect_seek(&s, at);
		for (uint64_t at = end - 1; at >= 1000; at -= step)
			expect_seek(&s, at);
	}
	assert_false(line_seek_row(&s, end, &row));
	assert_false(line_seek_row(&s, 999, &row));
	expect_seek(&s, 1000);
	buf_done(&out);
}

/* Compares line_seek_scope() with line_block_scope_at(), and checks where the scope ends. */
static void test_seek_scope(void **state)
{
	static const uint64_t ends[] = { 1000, 1100, 1150, 1160, 1200, 1500 };
	struct buf out = { 0 };
	struct line_block b;
	struct line_seek s;

	(void)state;
	make(&out);
	assert_int_equal(line_block_open(&b, out.data, out.len), 0);
	line_seek_begin(&s, &b);
	for (uint64_t step = 1; step < 400; step += 13) {
		size_t i = 0;

		for (uint64_t at = 1000; at < 1600; at += step) {
			while (i + 1 < 6 && at >= ends[i + 1])
				i++;
			assert_int_equal(line_seek_scope(&s, at),
					 line_block_scope_at(&b, ends[i]));
			assert_int_equal(s.spans.low, ends[i]);
			assert_int_equal(s.spans.high,
					 i + 1 < 6 ? ends[i + 1] : UINT64_MAX);
		}
	}
	assert_int_equal(line_seek_scope(&s, 999), LINE_NO_SCOPE);
	buf_done(&out);
}

static void expect_chain(const struct line_block *b, uint64_t addr, const char *names)
{
	uint32_t id = line_block_scope_at(b, addr);
	struct line_scope s;

	for (; *names; names++) {
		assert_int_not_equal(id, LINE_NO_SCOPE);
		assert_true(line_block_scope(b, id, &s));
		assert_int_equal(s.name[0], *names);
		assert_int_equal(s.inlined, *names != 'f');
		assert_int_equal(s.linkage, *names == 'f');
		if (*names == 'f')
			assert_int_equal(s.start, 1000);
		else
			assert_int_equal(s.call_line, *names == 'g' ? 10 : 20);
		id = s.parent;
	}
	assert_int_equal(id, LINE_NO_SCOPE);
}

static void test_chains(void **state)
{
	struct buf out = { 0 };
	struct line_block b;

	(void)state;
	make(&out);
	assert_int_equal(line_block_open(&b, out.data, out.len), 0);
	expect_chain(&b, 999, "");
	expect_chain(&b, 1000, "f");
	expect_chain(&b, 1100, "gf");
	expect_chain(&b, 1155, "hgf");
	expect_chain(&b, 1160, "gf");
	expect_chain(&b, 1499, "f");
	expect_chain(&b, 1500, "");
	buf_done(&out);
}

/* Each prefix is refused; a block with a changed byte is refused or read without harm. */
static void test_damage(void **state)
{
	struct buf out = { 0 };
	struct line_block b;
	struct line_row row;
	struct line_scope s;

	(void)state;
	make(&out);
	for (size_t len = 0; len < out.len; len++) {
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, out.data, len);
		assert_int_not_equal(line_block_open(&b, copy, len), 0);
		free(copy);
	}
	for (size_t at = 0; at < out.len; at++) {
		out.data[at] ^= 0xff;
		if (!line_block_open(&b, out.data, out.len)) {
			for (uint64_t addr = 990; addr < 1600; addr += 9) {
				(void)line_block_row(&b, addr, &row);
				(void)line_block_scope(
					&b, line_block_scope_at(&b, addr), &s);
			}
		}
		out.data[at] ^= 0xff;
	}
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),       cmocka_unit_test(test_walk),
		cmocka_unit_test(test_chains),     cmocka_unit_test(test_seek),
		cmocka_unit_test(test_seek_scope), cmocka_unit_test(test_damage),
	};

	return UNIT_RUN(tests);
}
