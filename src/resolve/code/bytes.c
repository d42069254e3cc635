/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes.c - code that is not in a file: BPF programs, as compiled by the kernel. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/err.h"
#include "resolve/code/insn.h"
#include "resolve/code/priv.h"

/* Machines by their name in uname(2): the 64-bit machines for which the kernel has a BPF
 * compiler. */
static const struct {
	const char *name;
	struct insn_machine machine;
} machines[] = {
	{ "x86_64", { EM_X86_64, true, false } },
	{ "aarch64", { EM_AARCH64, true, false } },
	{ "s390x", { EM_S390, true, true } },
	{ "ppc64le", { EM_PPC64, true, false } },
	{ "ppc64", { EM_PPC64, true, true } },
	{ "riscv64", { EM_RISCV, true, false } },
	{ "i686", { EM_386, false, false } },
	{ "armv7l", { EM_ARM, false, false } },
};

const struct insn_machine *code_machine(const char *name)
{
	for (size_t i = 0; name && i < COUNT_OF(machines); i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i].machine;
	return NULL;
}

static int open_bytes(struct code *c, const struct code_where *where, struct err *err)
{
	const struct insn_machine *machine = code_machine(where->machine);
	int r;

	c->bytes = malloc(where->nr_bytes + 1);
	if (!c->bytes)
		return err_set(err, -ENOMEM, "out of memory");
	memcpy(c->bytes, where->bytes, where->nr_bytes);
	c->nr_bytes = where->nr_bytes;
	c->start = where->start;
	r = machine ? insn_open(machine, &c->decoder) : -ENOTSUP;
	return r ? err_set(err, r, "code of machine '%s' cannot be disassembled here",
			   where->machine)
		 : 0;
}

static size_t code_bytes_read_bytes(struct code *c, uint64_t address,
				    uint8_t *ret_bytes, size_t len)
{
	uint64_t at = address - c->start;

	if (at >= c->nr_bytes)
		return 0;
	if (len > c->nr_bytes - at)
		len = c->nr_bytes - (size_t)at;
	memcpy(ret_bytes, c->bytes + at, len);
	return len;
}

/* Returns the only symbol. The bytes are one function, whose name the caller passes to
 * code_mean(). */
static const struct symbol *symbol_bytes(const struct code *c, uint64_t address,
					 uint64_t *ret_start)
{
	if (!c->tab || address - c->start >= c->nr_bytes)
		return NULL;
	*ret_start = c->start;
	return symtab_find(c->tab, address - c->start);
}

static const char *no_section(struct code *c, uint64_t address)
{
	(void)c;
	(void)address;
	return "";
}

const struct code_kind code_bytes_kind = {
	.begin = open_bytes,
	.read = code_bytes_read_bytes,
	.symbol = symbol_bytes,
	.section = no_section,
};
