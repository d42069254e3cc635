/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plt.h - finds the entries of procedure linkage tables, which no symbol table contains, and
 * names them "function@plt".
 * Layer: resolve. For x86-64, i386, Arm, AArch64, s390x and RISC-V. An entry is identified by
 * the slot of the global offset table that it jumps through, and the slot by its relocation.
 * This works for .plt, .plt.sec and .plt.got in all layouts.
 * Source of the format: psABIs of x86-64 (section 5.2), i386 (5.2), AArch64 (PLT sequences) and
 * RISC-V (Procedure Linkage Table); output of GNU ld and LLD. */
#pragma once
#include <stdint.h>

struct elf_file;
struct symtab;

/* Makes a table of the entries; empty if there are none. Call elf_file_sections() first.
 * Returns 0 or -ENOMEM. The caller owns *ret_tab. */
int plt_load(struct elf_file *f, struct symtab **ret_tab);
