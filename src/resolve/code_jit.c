/* code_jit.c - code that a JIT compiler made, of which its dump has the bytes and the lines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "resolve/code_priv.h"
#include "resolve/insn.h"
#include "resolve/jit_dump.h"

static int open_decoder(struct code *c, const char *path, struct err *err)
{
	/* Dumps are written in the machine's own order. */
	bool big = c->dump.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct insn_machine machine = { (uint16_t)c->dump.machine, true, big };
	int r = insn_open(&machine, &c->decoder);

	if (r == -ENOTSUP) {
		machine.is64 = false;
		r = insn_open(&machine, &c->decoder);
	}
	return r ? err_set(err, r, "%s: code of machine %u cannot be disassembled here",
			   path, c->dump.machine)
		 : 0;
}

static int open_jit(struct code *c, const struct code_where *where, struct err *err)
{
	int r;

	c->fd = elf_open_regular(where->path);
	if (c->fd < 0)
		return err_sys(err, c->fd, "%s", where->path);
	r = jit_dump_map(c->fd, where->path, &c->dump_bytes, &c->dump);
	if (r)
		return err_sys(err, r, "%s: no jitdump", where->path);
	c->has_dump = true;
	if (jit_dump_symtab(&c->dump, &c->dump_bytes, &c->tab))
		c->tab = NULL;
	return open_decoder(c, where->path, err);
}

static bool is_meant(const struct code *c, const struct jitdump_code *code)
{
	return c->meant && strlen(c->meant) == code->name_len &&
	       !memcmp(c->meant, c->dump_bytes.bytes + code->name, code->name_len);
}

/* What lay at an address: the function that is meant, else whichever came first. */
static const struct jitdump_code *code_at(const struct code *c, uint64_t address)
{
	const struct jitdump_code *found = NULL;

	for (size_t i = 0; i < c->dump.codes.nr; i++) {
		const struct jitdump_code *code = &c->dump.codes.at[i];

		if (address < code->address || address - code->address >= code->size)
			continue;
		if (is_meant(c, code))
			return code;
		if (!found)
			found = code;
	}
	return found;
}

static size_t read_jit(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	const struct jitdump_code *code = code_at(c, address);
	uint64_t left, at;

	if (!code || code->offset >= JITDUMP_NO_BYTES)
		return 0;
	left = code->size - (address - code->address);
	at = code->offset + (address - code->address);
	if (at >= c->dump_bytes.len)
		return 0;
	if (left > c->dump_bytes.len - at)
		left = c->dump_bytes.len - at;
	if (len > left)
		len = (size_t)left;
	memcpy(ret_bytes, c->dump_bytes.bytes + at, len);
	return len;
}

static const struct symbol *symbol_jit(const struct code *c, uint64_t address,
				       uint64_t *ret_start)
{
	const struct jitdump_code *code = code_at(c, address);

	if (!code || !c->tab)
		return NULL;
	*ret_start = code->address;
	return symtab_find(c->tab, code->offset);
}

static const char *section_jit(struct code *c, uint64_t address)
{
	(void)c;
	(void)address;
	return "";
}

/* ---- lines ---- */

struct reading {
	struct code *c;
	uint32_t code;
};

static int take_line(void *ctx, const struct jitdump_line *line)
{
	struct reading *r = ctx;
	struct code_jit_line made = { line->address, r->code, line->line, line->file };

	return vec_push(&r->c->jit_lines, made) ? 0 : -ENOMEM;
}

static int compare_lines(const void *x, const void *y)
{
	const struct code_jit_line *a = x, *b = y;

	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void read_lines(struct code *c)
{
	c->jit_lines_read = true;
	for (size_t i = 0; i < c->dump.codes.nr; i++) {
		struct reading r = { c, (uint32_t)i };

		(void)jitdump_lines(&c->dump, c->dump_bytes.bytes, c->dump_bytes.len,
				    &c->dump.codes.at[i], take_line, &r);
	}
	if (c->jit_lines.nr)
		qsort(c->jit_lines.at, c->jit_lines.nr, sizeof(*c->jit_lines.at),
		      compare_lines);
}

size_t code_jit_frames(struct code *c, uint64_t address, struct line_frame *ret_frame)
{
	const struct jitdump_code *code = code_at(c, address);
	const struct code_jit_line *found = NULL;
	struct code_jit_line key;
	size_t low = 0, high;

	if (!code)
		return 0;
	if (!c->jit_lines_read)
		read_lines(c);
	key = (struct code_jit_line){ .address = address,
				      .code = (uint32_t)(code - c->dump.codes.at) };
	high = c->jit_lines.nr;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_lines(&c->jit_lines.at[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		found = &c->jit_lines.at[low - 1];
	if (!found || found->code != key.code)
		return 0;
	*ret_frame = (struct line_frame){ .file = found->file, .line = found->line };
	return 1;
}

const struct code_kind code_jit = {
	.open = open_jit,
	.read = read_jit,
	.symbol = symbol_jit,
	.section = section_jit,
};
