/* reloc.h - applies the relocations of debug sections of a relocatable file.
 * Layer: resolve, for dwarf/file.c alone.
 * Source: the processor supplements of the System V ABI; only the kinds that compilers use
 * for data in debug sections. */
#pragma once
struct dwarf_file;
struct elf_section;

/* Applies `rel` (SHT_REL or SHT_RELA) to section `kind`, which it brings into memory.
 * Relocations of unknown kinds, or outside of the section, are left out.  0 or an error. */
int dwarf_reloc_apply(struct dwarf_file *f, const struct elf_section *rel,
		      unsigned int kind);
