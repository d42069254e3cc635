/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - decompresses debug sections into memory or into an unlinked file.
 * Layer: resolve, only for dwarf/section.c. */
#pragma once
#include <stdbool.h>

struct dwarf_section;
struct elf_file;
struct elf_section;

/* Decompresses a section of `f` into memory (s->whole) or, if it is large, into an unlinked file
 * (s->fd), and sets s->bytes. Returns 0, -ENODATA (the decompressed size is 0), -EBADMSG
 * (malformed), -EFBIG, -EOPNOTSUPP (another compression), -ENOMEM, or an I/O error. After an
 * error, the caller calls dwarf_section_close(). */
int dwarf_unpack(const struct elf_file *f, const struct elf_section *e, bool zdebug,
		 struct dwarf_section *s);
