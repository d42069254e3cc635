/* SPDX-License-Identifier: GPL-2.0-or-later */
/* needed.h - finds the bytes of a binary that no report reads.
 * Layer: resolve. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct elf_file;

/* A range of file offsets: [offset, end). */
struct elf_span {
	uint64_t offset;
	uint64_t end;
};

typedef VEC(struct elf_span) elf_spans;

/* Sorts the spans and joins those that overlap or touch. */
void elf_spans_join(elf_spans *spans);
/* Finds the bytes of an ELF file that are needed neither for symbols, line numbers and
 * unwinding nor to disassemble the code in `keep` (joined): the rest of .text, and the
 * program's data. Bytes that another section or a header also uses are needed.
 * Returns 0, -EBADMSG, -ENOMEM or an I/O error. After 0, *ret_spans is joined and owned by the
 * caller; it is empty if everything is needed (relocatable files, files without sections). */
int elf_unneeded(struct elf_file *f, const elf_spans *keep, elf_spans *ret_spans);
