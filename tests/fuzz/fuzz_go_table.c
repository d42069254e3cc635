/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_go_table.c - any bytes as the table of a Go program: all its units become blocks, in
 * which addresses are looked up. The first byte selects the byte order. */
#include <stdint.h>
#include <stdlib.h>

#include "resolve/lines/block.h"
#include "resolve/lines/block_make.h"
#include "resolve/lines/go_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	CODE_LOW = 0x1000,
	CODE_HIGH = 0x9000,
	LOOKED_AT_MAX = 64
};

/* Rows and spans are sorted, and every scope can be read. */
static void check_block(const struct buf *out, uint64_t low)
{
	struct line_row_walk walk;
	struct line_block block;
	struct line_row row;
	uint64_t last = 0;

	if (line_block_open(&block, out->data, out->len))
		abort();
	line_row_walk_begin(&walk, &block, 0);
	while (line_row_walk_next(&walk, &row)) {
		if (row.addr < last || row.addr > CODE_HIGH)
			abort();
		last = row.addr;
	}
	for (uint64_t addr = low; addr < low + LOOKED_AT_MAX; addr++) {
		uint32_t id = line_block_scope_at(&block, addr);
		struct line_scope scope;

		for (; id != LINE_NO_SCOPE; id = scope.parent)
			if (!line_block_scope(&block, id, &scope))
				abort();
		(void)line_block_row(&block, addr, &row);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_block_maker maker = { 0 };
	struct go_lines lines = { 0 };
	const struct line_paths paths = { go_lines_path, &lines };
	struct buf out = { 0 };
	struct go_table *t;

	if (!size || go_table_open_bytes(data + 1, size - 1, data[0] & 1, CODE_LOW,
					 CODE_HIGH, &t))
		return 0;
	for (size_t i = 0; i < go_lines_count_units(t); i++) {
		struct dwarf_code code;

		buf_clear(&out);
		go_lines_range(t, i, &code);
		if (go_lines_read(&lines, t, i) ||
		    line_block_make(&maker, &paths, &lines.rows, &lines.scopes, &out))
			continue;
		check_block(&out, code.low);
	}
	go_table_free(t);
	go_lines_done(&lines);
	line_block_maker_done(&maker);
	buf_done(&out);
	return 0;
}
