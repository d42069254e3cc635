/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_sframe.c - any bytes as .sframe: the resulting tables are sorted, and the walk ends.
 * The first byte selects the machine and the byte order. */
#include <elf.h>
#include <stdint.h>

#include "resolve/unwind/sframe.h"
#include "unwind_walk.h"

enum {
	BASE = 0x10000
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct unwind_arch *arch;
	struct sframe s;
	const struct unwind_sources from = { .sframe = &s };
	struct unwind_walk walk = { .base = BASE };

	if (!size)
		return 0;
	arch = unwind_arch_of_elf(data[0] & 1 ? EM_AARCH64 : EM_X86_64, true);
	if (!sframe_open(&s, arch, data + 1, size - 1, BASE, data[0] & 2))
		return 0;
	if (unwind_table_compile_all(arch, &from, walk_same, NULL, &walk.table))
		return 0;
	walk_table(&walk, data, size, data[0] & 64);
	unwind_table_free(walk.table);
	return 0;
}
