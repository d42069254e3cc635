/* plt.h - the entries of procedure linkage tables, which no symbol table names, as
 * "function@plt".
 * Layer: resolve.  For x86-64, i386, Arm, AArch64, s390x and RISC-V.  An entry is known by the slot of the
 * global offset table that it jumps through, and the slot by its relocation: so .plt,
 * .plt.sec and .plt.got read alike, however they were laid out.
 * Source of the format: psABIs of x86-64 (section 5.2), i386 (5.2), AArch64 (PLT
 * sequences) and RISC-V (Procedure Linkage Table); what GNU ld and LLD write. */
#pragma once
#include <stdint.h>

struct elf_file;
struct symtab;

/* The entries as a table of symbols.  elf_file_sections() came before.
 * 0 (none at all: an empty table) or -ENOMEM.  The caller owns *ret_tab. */
int plt_load(struct elf_file *f, struct symtab **ret_tab);
