/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reloc.h - applies the relocations of debug sections in a relocatable file.
 * Layer: resolve, only for dwarf/file.c.
 * Source: the processor supplements of the System V ABI. Supports only the kinds that compilers
 * use for data in debug sections. */
#pragma once
struct dwarf_file;
struct elf_section;

/* Loads debug section `kind` and applies the relocation section `rel` (SHT_REL or SHT_RELA). If
 * several ELF sections were joined to this debug section, changes only the one to which `rel`
 * belongs. Skips relocations of unknown kinds and those outside of the section. Returns 0 or a
 * negative errno. */
int dwarf_reloc_apply(struct dwarf_file *f, const struct elf_section *rel,
		      unsigned int kind);
