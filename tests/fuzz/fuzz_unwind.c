/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz_unwind.c - any bytes as call frame information, registers and a stack: the walk must
 * end. The first byte selects machine, byte order, section and readable memory; the second is
 * the number of bytes at the end that are registers and stack. */
#include <stdbool.h>
#include <stdint.h>

#include "resolve/unwind/cfi.h"
#include "unwind_walk.h"

enum {
	BASE = 0x1000,
	HEAD_BYTES = 2
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All machines that are supported. */
static const struct {
	const char *name;
	bool is32;
} machines[] = {
	{ "x86_64", false }, { "aarch64", false }, { "s390x", false },
	{ "ppc64", false },  { "riscv64", false }, { "i686", true },
	{ "armv7l", true },  { "aarch64", true },  { "armv7l", true },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_walk walk = { .base = BASE };
	const struct unwind_arch *arch;
	struct cfi_walk walk_of;
	size_t rest, machine;
	bool swap;

	if (size < HEAD_BYTES)
		return 0;
	machine = data[0] & 8 ? 8 : data[0] & 7;
	arch = unwind_arch_of_machine(machines[machine].name, machines[machine].is32);
	swap = data[0] & 16;
	rest = data[1] < size - HEAD_BYTES ? data[1] : size - HEAD_BYTES;
	walk_of = cfi_walk_of(data + HEAD_BYTES, size - HEAD_BYTES - rest, BASE,
			      arch->is64, swap, data[0] & 32);
	if (unwind_table_compile(arch, &walk_of, 1, walk_same, NULL, &walk.table))
		return 0;
	walk_table(&walk, data + size - rest, rest, data[0] & 64);
	unwind_table_free(walk.table);
	return 0;
}
