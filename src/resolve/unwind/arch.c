/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/arch.h"

#include <elf.h>
#include <string.h>

#include "base/array.h"

#define NONE UNWIND_NO_REG
#define EIGHT(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define USER_BITS_48 ((1ULL << 48) - 1)

/* A machine, and the beginning of its name in uname(2). */
struct unwind_arch_row {
	struct unwind_arch arch;
	const char *machine;
	bool abi32;
};

static const struct unwind_arch_row rows[] = {
	{ .machine = "x86_64",
	  .arch = { .name = "x86-64",
		    .elf_machine = EM_X86_64,
		    .is64 = true,
		    .nr = 17,
		    .sp = 7,
		    .fp = 6,
		    .link = NONE,
		    .pc = 16,
		    .perf_pc = 8,
		    .nr_perf = 24,
		    /* AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8... */
		    .perf = { 0, 3, 2, 1, 4, 5, 6, 7, 16, NONE, NONE, NONE, NONE, NONE,
			      NONE, NONE, EIGHT(8) },
		    .address_bits = UINT64_MAX } },
	{ .machine = "x86_64",
	  .abi32 = true,
	  .arch = { .name = "i386",
		    .elf_machine = EM_386,
		    .nr = 9,
		    .sp = 4,
		    .fp = 5,
		    .link = NONE,
		    .pc = 8,
		    .perf_pc = 8,
		    .nr_perf = 9,
		    .perf = { 0, 3, 1, 2, 6, 7, 5, 4, 8 },
		    .address_bits = UINT32_MAX } },
	{ .machine = "aarch64",
	  .arch = { .name = "AArch64",
		    .elf_machine = EM_AARCH64,
		    .is64 = true,
		    .nr = 32,
		    .sp = 31,
		    .fp = 29,
		    .link = 30,
		    .pc = NONE,
		    .perf_pc = 32,
		    .nr_perf = 33,
		    .perf = { EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), NONE },
		    /* The upper bits contain pointer authentication and tags. */
		    .address_bits = USER_BITS_48 } },
	{ .machine = "arm",
	  .abi32 = true,
	  .arch = { .name = "ARM",
		    .elf_machine = EM_ARM,
		    .nr = 16,
		    .sp = 13,
		    .fp = NONE,
		    .link = 14,
		    .pc = NONE,
		    .perf_pc = 15,
		    .nr_perf = 16,
		    .perf = { EIGHT(0), EIGHT(8) },
		    .address_bits = UINT32_MAX & ~1U } },
	/* 16 general registers, then 16 floating-point registers, in DWARF's order:
	 * callee-saved registers are also stored in the latter. */
	{ .machine = "s390x",
	  .arch = { .name = "s390x",
		    .elf_machine = EM_S390,
		    .is64 = true,
		    .nr = 32,
		    .frame_bias = 160,
		    .sp = 15,
		    .fp = NONE,
		    .link = 14,
		    .pc = NONE,
		    .perf_pc = 33,
		    .nr_perf = 34,
		    .perf = { EIGHT(0), EIGHT(8),
			      /* f0 ... f15 */
			      16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30,
			      27, 31, NONE, NONE },
		    .address_bits = UINT64_MAX } },
	{ .machine = "ppc64",
	  .arch = { .name = "ppc64",
		    .elf_machine = EM_PPC64,
		    .is64 = true,
		    .nr = 33,
		    .sp = 1,
		    .fp = NONE,
		    .link = 32,
		    .pc = NONE,
		    .odd = 65,
		    .odd_slot = 32,
		    .perf_pc = 32,
		    .nr_perf = 37,
		    /* ... NIP MSR ORIG_R3 CTR LINK */
		    .perf = { EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), NONE, NONE,
			      NONE, NONE, 32 },
		    .address_bits = UINT64_MAX } },
	{ .machine = "riscv64",
	  .arch = { .name = "RISC-V",
		    .elf_machine = EM_RISCV,
		    .is64 = true,
		    .nr = 32,
		    .sp = 2,
		    .fp = NONE,
		    .link = 1,
		    .pc = NONE,
		    .perf_pc = 0,
		    .nr_perf = 32,
		    .perf = { NONE, 1, 2, 3, 4, 5, 6, 7, EIGHT(8), EIGHT(16),
			      EIGHT(24) },
		    .address_bits = UINT64_MAX } },
};

enum {
	NR_ROWS = COUNT_OF(rows)
};

const struct unwind_arch *unwind_arch_of_elf(uint16_t elf_machine, bool is64)
{
	for (unsigned int i = 0; i < NR_ROWS; i++)
		if (rows[i].arch.elf_machine == elf_machine &&
		    rows[i].arch.is64 == is64)
			return &rows[i].arch;
	return NULL;
}

const struct unwind_arch *unwind_arch_of_machine(const char *machine, bool abi32)
{
	if (machine[0] == 'i' && machine[1] && strcmp(machine + 2, "86") == 0)
		machine = "x86_64";
	/* For a 32-bit program, an AArch64 kernel numbers the registers as ARM does. */
	if (abi32 && strcmp(machine, "aarch64") == 0)
		machine = "arm";
	for (unsigned int i = 0; i < NR_ROWS; i++)
		if (strncmp(machine, rows[i].machine, strlen(rows[i].machine)) == 0 &&
		    rows[i].abi32 == abi32)
			return &rows[i].arch;
	return NULL;
}

unsigned int unwind_arch_slot(const struct unwind_arch *a, uint64_t dwarf_register)
{
	if (a->odd && dwarf_register == a->odd)
		return a->odd_slot;
	if (a->odd && dwarf_register == a->odd_slot)
		return UNWIND_NO_REG;
	return dwarf_register < a->nr ? (unsigned int)dwarf_register : UNWIND_NO_REG;
}
