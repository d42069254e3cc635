/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/jit.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "format/jit/jitdump.h"
#include "resolve/unwind/cfi.h"
#include "resolve/unwind/table.h"

enum {
	ALIGN = 8
};

/* Addresses in the walks are already offsets. */
static uint64_t unwind_jit_same(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr < JITDUMP_NO_BYTES ? vaddr : UINT64_MAX;
}

static size_t make_walks(const struct jitdump *dump, const void *bytes, size_t len,
			 bool is64, struct cfi_walk *walks)
{
	size_t nr = 0;

	for (size_t i = 0; i < dump->codes.nr; i++) {
		const struct jitdump_code *code = &dump->codes.at[i];
		const uint8_t *at;
		size_t at_len;

		/* Pointers in .eh_frame are relative to the address of .eh_frame, and the
		 * compiler computes them for an .eh_frame that follows the code, aligned. */
		if (code->offset < JITDUMP_NO_BYTES &&
		    jitdump_eh_frame(dump, bytes, len, code, &at, &at_len))
			walks[nr++] = cfi_walk_of(
				at, at_len,
				code->offset + (code->size + ALIGN - 1) / ALIGN * ALIGN,
				is64, dump->swap, false);
	}
	return nr;
}

int unwind_jit_table(const struct jitdump *dump, const void *bytes, size_t len,
		     const struct unwind_arch *recorded,
		     struct unwind_table **ret_table)
{
	uint16_t machine = (uint16_t)dump->machine;
	const struct unwind_arch *arch = unwind_arch_of_elf(machine, true);
	struct cfi_walk *walks;
	size_t nr;
	int r = -ENODATA;

	if (!arch)
		arch = dump->machine ? unwind_arch_of_elf(machine, false) : recorded;
	if (!arch)
		return -EOPNOTSUPP;
	walks = calloc(dump->codes.nr + 1, sizeof(*walks));
	if (!walks)
		return -ENOMEM;
	nr = make_walks(dump, bytes, len, arch->is64, walks);
	if (nr)
		r = unwind_table_compile(arch, walks, nr, unwind_jit_same, NULL,
					 ret_table);
	free(walks);
	return r;
}
