/* unpack.h - packed debug sections, unpacked into memory or into an unlinked file.
 * Layer: resolve, for dwarf/section.c alone. */
#pragma once
#include <stdbool.h>

struct dwarf_section;
struct elf_file;
struct elf_section;

/* Fills fd or whole, and bytes, of `s`.  0, -EBADMSG (not what it claims to be), -EFBIG,
 * -EOPNOTSUPP (another packing), -ENOMEM, or an I/O error; dwarf_section_close() `s` then. */
int dwarf_unpack(const struct elf_file *f, const struct elf_section *e, bool zdebug,
		 struct dwarf_section *s);
