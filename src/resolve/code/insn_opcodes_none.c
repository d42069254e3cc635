/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces insn_opcodes.c in a build without binutils' headers: Zydis or LLVM decodes x86. */
#include <stddef.h>

#include "resolve/code/insn.h"

static void *open_no_opcodes(const char *triple, const struct insn_machine *machine)
{
	(void)triple;
	(void)machine;
	return NULL;
}

const struct insn_engine insn_opcodes = { .name = "libopcodes",
					  .begin = open_no_opcodes };

bool insn_has_opcodes(void)
{
	return false;
}
