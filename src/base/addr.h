/* SPDX-License-Identifier: GPL-2.0-or-later */
/* addr.h - separate types for the three kinds of addresses, so that mixing them does not
 * compile.
 * Layer: base. */
#pragma once
#include <stdint.h>

/* A runtime address in a process or kernel, as the CPU sees it. */
struct rt_addr {
	uint64_t v;
};

/* An offset in a file on disk, such as the pgoff of a mapping, in bytes. */
struct file_off {
	uint64_t v;
};

/* A link-time address: st_value and p_vaddr of ELF, DW_AT_low_pc of DWARF. */
struct elf_vaddr {
	uint64_t v;
};
