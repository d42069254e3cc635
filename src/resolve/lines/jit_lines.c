/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/lines/jit_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/vec.h"

enum {
	/* V8 adds this number to the addresses of lines, because old versions of perf did not: it is
	 * the offset of the code in the ELF file that perf makes of it. */
	V8_SHIFT = 0x40
};

struct code_line {
	uint64_t address;
	uint32_t code; /* index in the dump */
	uint32_t line;
	const char *file;
};

struct jit_lines {
	const struct jitdump *dump;
	const uint8_t *bytes;
	/* Indices of codes, sorted by address; equal addresses in the order of the dump. */
	VEC(uint32_t) by_address;
	uint64_t longest;            /* size of the largest code */
	VEC(struct code_line) lines; /* by code and address */
	uint64_t shift; /* amount by which addresses of lines exceed those of the
				      * code */
};

static int jit_lines_compare_lines(const void *x, const void *y)
{
	const struct code_line *a = x, *b = y;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_codes(const void *x, const void *y, void *ctx)
{
	const struct jitdump_code *codes = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	if (codes[a].address != codes[b].address)
		return codes[a].address < codes[b].address ? -1 : 1;
	return a < b ? -1 : a > b;
}

struct jit_lines_reading {
	struct jit_lines *l;
	uint32_t code;
};

static int jit_lines_take_line(void *ctx, const struct jitdump_line *line)
{
	struct jit_lines_reading *r = ctx;
	struct code_line made = { line->address, r->code, line->line, line->file };

	return vec_push(&r->l->lines, made) ? 0 : -ENOMEM;
}

/* Finds out whether the compiler has added 0x40 to the addresses of lines. In a large dump, some
 * function has a line for its first instruction. So 0x40 was added if no line is before the 0x40th
 * byte, and some are exactly there. */
static void jit_lines_find_shift(struct jit_lines *l)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < l->lines.nr; i++) {
		uint64_t off = l->lines.at[i].address -
			       l->dump->codes.at[l->lines.at[i].code].address;

		if (off < least)
			least = off;
	}
	l->shift = least == V8_SHIFT ? V8_SHIFT : 0;
}

static int read_codes(struct jit_lines *l, const struct mapped *bytes)
{
	const struct jitdump *d = l->dump;

	for (uint32_t i = 0; i < d->codes.nr; i++) {
		struct jit_lines_reading r = { l, i };

		if (!vec_push(&l->by_address, i))
			return -ENOMEM;
		if (d->codes.at[i].size > l->longest)
			l->longest = d->codes.at[i].size;
		/* Keep the lines read before the truncation. */
		if (jitdump_lines(d, bytes->bytes, bytes->len, &d->codes.at[i],
				  jit_lines_take_line, &r) == -ENOMEM)
			return -ENOMEM;
	}
	if (l->lines.nr)
		qsort(l->lines.at, l->lines.nr, sizeof(*l->lines.at),
		      jit_lines_compare_lines);
	if (l->by_address.nr)
		qsort_r(l->by_address.at, l->by_address.nr, sizeof(uint32_t),
			compare_codes, d->codes.at);
	jit_lines_find_shift(l);
	return 0;
}

int jit_lines_new(const struct jitdump *dump, const struct mapped *bytes,
		  struct jit_lines **ret_lines)
{
	struct jit_lines *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->dump = dump;
	l->bytes = bytes->bytes;
	if (read_codes(l, bytes)) {
		jit_lines_free(l);
		return -ENOMEM;
	}
	*ret_lines = l;
	return 0;
}

void jit_lines_free(struct jit_lines *l)
{
	if (!l)
		return;
	vec_done(&l->by_address);
	vec_done(&l->lines);
	free(l);
}

static bool jit_lines_is_named(const struct jit_lines *l,
			       const struct jitdump_code *code, const char *name)
{
	return strlen(name) == code->name_len &&
	       !memcmp(name, l->bytes + code->name, code->name_len);
}

/* Returns the number of codes that begin at or before the address. */
static size_t codes_up_to(const struct jit_lines *l, uint64_t address)
{
	size_t low = 0, high = l->by_address.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->dump->codes.at[l->by_address.at[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct jitdump_code *jit_lines_code(const struct jit_lines *l, uint64_t address,
					  const char *function)
{
	const struct jitdump_code *last = NULL;

	for (size_t i = codes_up_to(l, address); i; i--) {
		const struct jitdump_code *code =
			&l->dump->codes.at[l->by_address.at[i - 1]];

		if (address - code->address >= l->longest)
			break;
		if (address - code->address >= code->size)
			continue;
		if (!function || jit_lines_is_named(l, code, function))
			return code;
		/* Codes are in the dump in the order of time, so the last one is the newest. */
		if (!last || code > last)
			last = code;
	}
	return last;
}

bool jit_lines_find(const struct jit_lines *l, const struct jitdump_code *code,
		    uint64_t address, const char **ret_file, uint32_t *ret_line)
{
	const struct code_line key = { .address = address + l->shift,
				       .code = (uint32_t)(code - l->dump->codes.at) };
	size_t low = 0, high = l->lines.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (jit_lines_compare_lines(&l->lines.at[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || l->lines.at[low - 1].code != key.code)
		return false;
	*ret_file = l->lines.at[low - 1].file;
	*ret_line = l->lines.at[low - 1].line;
	return true;
}
