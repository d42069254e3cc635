/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/go/go_maker.h"

#include <string.h>

/* A value for a number of bytes of code. */
struct run {
	uint32_t code;
	int32_t value;
};

void go_made_put(struct go_made *made, size_t at, uint64_t number, unsigned int bytes)
{
	bool big = made->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	for (unsigned int i = 0; i < bytes; i++)
		made->bytes[at + (big ? bytes - 1 - i : i)] =
			(uint8_t)(number >> (8 * i));
}

static bool is_12(const struct go_made *made)
{
	return made->layout == GO_MADE_12;
}

static unsigned int entry_bytes(const struct go_made *made)
{
	return made->layout == GO_MADE_12 || made->layout == GO_MADE_116
		       ? made->ptr_bytes
		       : 4;
}

static size_t put_varint(struct go_made *made, size_t at, uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		made->bytes[at++] = (uint8_t)(number | 0x80);
	made->bytes[at++] = (uint8_t)number;
	return at;
}

/* Stores runs and a final zero. Returns the position after them. */
static size_t put_runs(struct go_made *made, size_t at, const struct run *runs,
		       size_t nr)
{
	int32_t last = -1;

	for (size_t i = 0; i < nr; i++) {
		int32_t change = runs[i].value - last;

		at = put_varint(made, at,
				(uint32_t)change << 1 ^ (change < 0 ? UINT32_MAX : 0));
		at = put_varint(made, at, runs[i].code);
		last = runs[i].value;
	}
	return at + 1;
}

static void put_header(struct go_made *made)
{
	unsigned int ptr = made->ptr_bytes;
	size_t at = 8;

	go_made_put(made, 0, 0xfffffff0 | made->layout, 4);
	made->bytes[6] = 1;
	made->bytes[7] = (uint8_t)ptr;
	go_made_put(made, at, 2, ptr);
	if (is_12(made))
		return;
	go_made_put(made, at + ptr, 2, ptr);
	at += 2 * (size_t)ptr;
	if (entry_bytes(made) == 4 && made->layout != GO_MADE_116) {
		go_made_put(made, at, GO_MADE_TEXT, ptr);
		at += ptr;
	}
	go_made_put(made, at, GO_MADE_NAMES, ptr);
	go_made_put(made, at + ptr, GO_MADE_FILES, ptr);
	go_made_put(made, at + 2 * (size_t)ptr, GO_MADE_PATHS, ptr);
	go_made_put(made, at + 3 * (size_t)ptr, GO_MADE_VALUES, ptr);
	go_made_put(made, at + 4 * (size_t)ptr, GO_MADE_FUNCTIONS, ptr);
}

static void put_record(struct go_made *made, size_t i, const uint32_t *values)
{
	bool offsets = made->layout == GO_MADE_118 || made->layout == GO_MADE_120;
	size_t names = is_12(made) ? GO_MADE_NAMES : 0;
	size_t at = GO_MADE_RECORDS + 0x40 * i;
	uint64_t addr = 0x40 * i + (offsets ? 0 : GO_MADE_TEXT);

	go_made_put(made, at, addr, entry_bytes(made));
	at += entry_bytes(made);
	go_made_put(made, at, names + (i ? 9 : 0), 4);
	go_made_put(made, at + 12, values[3 * i + 2], 4);
	go_made_put(made, at + 16, values[3 * i], 4);
	go_made_put(made, at + 20, values[3 * i + 1], 4);
	if (!is_12(made))
		go_made_put(made, at + 28, 1, 4);
	if (made->layout == GO_MADE_120)
		go_made_put(made, at + 32, i ? 18 : 9, 4);
	if (!is_12(made) && i)
		made->bytes[at + (made->layout == GO_MADE_120 ? 37 : 33)] = 1;
}

static void put_functions(struct go_made *made)
{
	bool offsets = made->layout == GO_MADE_118 || made->layout == GO_MADE_120;
	size_t base = is_12(made) ? 0 : GO_MADE_FUNCTIONS;
	size_t at = is_12(made) ? 8 + made->ptr_bytes : GO_MADE_FUNCTIONS;
	unsigned int each = entry_bytes(made);

	for (size_t i = 0; i < 3; i++) {
		go_made_put(made, at + 2 * i * each,
			    0x40 * i + (offsets ? 0 : GO_MADE_TEXT), each);
		if (i < 2)
			go_made_put(made, at + (2 * i + 1) * each,
				    GO_MADE_RECORDS + 0x40 * i - base, each);
	}
	if (is_12(made))
		go_made_put(made, at + 5 * (size_t)each, GO_MADE_FILES, 4);
}

void go_made_fill(struct go_made *made)
{
	/* File numbers begin with 1 in layout 1.2. */
	int32_t hot = is_12(made);
	const struct run hot_files[] = { { 0x30, hot } };
	const struct run hot_lines[] = { { 0x10, 10 }, { 0x20, 12 } };
	const struct run hot_frames[] = { { 0x30, 0 } };
	const struct run work_frames[] = { { 8, 0 }, { 0x38, 24 } };
	const struct run work_files[] = { { 0x10, hot + 1 },
					  { 0x10, hot },
					  { 0x20, hot + 1 } };
	const struct run work_lines[] = { { 0x10, 20 }, { 0x10, 12 }, { 0x20, 19 } };
	const struct {
		const struct run *runs;
		size_t nr;
	} tables[] = { { hot_files, 1 },  { hot_lines, 2 },  { hot_frames, 1 },
		       { work_files, 3 }, { work_lines, 3 }, { work_frames, 2 } };
	size_t paths = is_12(made) ? GO_MADE_PATHS : 0;
	size_t base = is_12(made) ? 0 : GO_MADE_VALUES;
	size_t at = GO_MADE_VALUES + 1;
	uint32_t values[6];

	memset(made->bytes, 0, sizeof(made->bytes));
	put_header(made);
	for (size_t i = 0; i < 6; i++) {
		values[i] = (uint32_t)(at - base);
		at = put_runs(made, at, tables[i].runs, tables[i].nr);
	}
	put_functions(made);
	put_record(made, 0, values);
	put_record(made, 1, values);
	memcpy(made->bytes + GO_MADE_NAMES, "main.hot\0main.work", 19);
	memcpy(made->bytes + GO_MADE_PATHS, "/src/hot.go\0/src/work.go", 25);
	/* In layout 1.2 the first number is the number of files, else one of another unit. */
	go_made_put(made, GO_MADE_FILES, is_12(made) ? 3 : 0xffffffff, 4);
	go_made_put(made, GO_MADE_FILES + 4, paths, 4);
	go_made_put(made, GO_MADE_FILES + 8, paths + 12, 4);
}
