/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jit.c - code of a JIT compiler, whose dump contains the bytes and the lines. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "resolve/code/insn.h"
#include "resolve/code/priv.h"
#include "resolve/jit/dump.h"
#include "resolve/lines/jit_lines.h"

/* Returns the machine of the code. Some dumps, such as those of CPython, contain no machine;
 * then it is the machine with the uname(2) name `name`, or this machine if `name` is empty. */
static uint16_t code_jit_machine(const struct code *c, const char *name)
{
	const struct insn_machine *machine;
	struct utsname host;

	if (c->dump.machine)
		return (uint16_t)c->dump.machine;
	if ((!name || !*name) && !uname(&host))
		name = host.machine;
	machine = code_machine(name);
	return machine ? machine->machine : EM_NONE;
}

static int code_jit_open_decoder(struct code *c, const struct code_where *where,
				 struct err *err)
{
	/* A dump has the byte order of the machine that wrote it. */
	bool big = c->dump.swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct insn_machine machine = { code_jit_machine(c, where->machine), true,
					big };
	int r = insn_open(&machine, &c->decoder);

	if (r == -ENOTSUP) {
		machine.is64 = false;
		r = insn_open(&machine, &c->decoder);
	}
	return r ? err_set(err, r, "'%s': no disassembler is available for machine %u",
			   where->path, c->dump.machine)
		 : 0;
}

static int code_jit_open_jit(struct code *c, const struct code_where *where,
			     struct err *err)
{
	int r;

	c->fd = elf_open_regular(where->path);
	if (c->fd < 0)
		return err_sys(err, c->fd, "cannot open '%s'", where->path);
	r = jit_dump_map(c->fd, where->path, &c->dump_bytes, &c->dump);
	if (r)
		return err_sys(err, r, "cannot read the jitdump '%s'", where->path);
	c->has_dump = true;
	if (jit_dump_symtab(&c->dump, &c->dump_bytes, &c->tab))
		c->tab = NULL;
	if (jit_lines_new(&c->dump, &c->dump_bytes, &c->jit_lines))
		return err_set(err, -ENOMEM, "out of memory");
	return code_jit_open_decoder(c, where, err);
}

static size_t read_jit(struct code *c, uint64_t address, uint8_t *ret_bytes, size_t len)
{
	const struct jitdump_code *code =
		jit_lines_code(c->jit_lines, address, c->meant);
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
	const struct jitdump_code *code =
		jit_lines_code(c->jit_lines, address, c->meant);

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

size_t code_jit_frames(struct code *c, uint64_t address, struct line_frame *ret_frame)
{
	const struct jitdump_code *code =
		jit_lines_code(c->jit_lines, address, c->meant);

	*ret_frame = (struct line_frame){ 0 };
	return code && jit_lines_find(c->jit_lines, code, address, &ret_frame->file,
				      &ret_frame->line);
}

const struct code_kind code_jit = {
	.begin = code_jit_open_jit,
	.read = read_jit,
	.symbol = symbol_jit,
	.section = section_jit,
};
