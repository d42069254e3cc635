/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces insn_zydis.c in a build without Zydis: LLVM decodes x86. */
#include <stddef.h>

#include "resolve/code/insn.h"

static void *open_none(const char *triple, const struct insn_machine *machine)
{
	(void)triple;
	(void)machine;
	return NULL;
}

const struct insn_engine insn_zydis = { .name = "Zydis", .begin = open_none };

bool insn_has_zydis(void)
{
	return false;
}
