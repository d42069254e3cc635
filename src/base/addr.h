/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr.h - the three kinds of address a profiler meets, as types of their own so
 * that mixing them does not compile.
 * Layer: base. */
#pragma once
#include <stdint.h>

/* An address in a running process or kernel, as the CPU sees it. */
struct rt_addr {
	uint64_t v;
};

/* An offset in a file on disk (what a mapping's pgoff speaks of). */
struct file_off {
	uint64_t v;
};

/* A link-time address: st_value and p_vaddr of ELF, DW_AT_low_pc of DWARF. */
struct elf_vaddr {
	uint64_t v;
};
