/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_exidx.c - any bytes as .ARM.exidx and .ARM.extab: the resulting tables are sorted, and
 * the walk ends. The first byte selects the byte order, the second is the number of entries. */
#include <elf.h>
#include <stdint.h>

#include "resolve/unwind/exidx.h"
#include "unwind_walk.h"

enum {
	HEAD_BYTES = 2,
	ENTRY_BYTES = 8,
	BASE = 0x10000
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct unwind_arch *arch = unwind_arch_of_elf(EM_ARM, false);
	struct exidx x = { .entry = BASE };
	const struct unwind_sources from = { .exidx = &x };
	struct unwind_walk walk = { .base = BASE };
	size_t index;

	if (size < HEAD_BYTES)
		return 0;
	index = (size_t)data[1] * ENTRY_BYTES;
	if (index > size - HEAD_BYTES)
		index = size - HEAD_BYTES;
	x.swap = data[0] & 1;
	x.index = (struct exidx_section){ data + HEAD_BYTES, index, BASE };
	x.extra = (struct exidx_section){ data + HEAD_BYTES + index,
					  size - HEAD_BYTES - index, BASE + index };
	if (unwind_table_compile_all(arch, &from, walk_same, NULL, &walk.table))
		return 0;
	walk_table(&walk, data, size, data[0] & 64);
	unwind_table_free(walk.table);
	return 0;
}
