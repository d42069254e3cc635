/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - decompresses debug sections into memory or into an unlinked file.
 * Layer: resolve, only for dwarf/section.c. */
#pragma once
#include <stdbool.h>

struct dwarf_section;
struct elf_file;
struct elf_section;

/* Fills fd or whole, and bytes, of `s`. Returns 0, -EBADMSG (malformed), -EFBIG, -EOPNOTSUPP
 * (another compression), -ENOMEM, or an I/O error. After an error, the caller calls
 * dwarf_section_close(). */
int dwarf_unpack(const struct elf_file *f, const struct elf_section *e, bool zdebug,
		 struct dwarf_section *s);
