/* needed.h - which bytes of a binary no report reads.
 * Layer: resolve. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct elf_file;

/* Bytes of a file: [offset, end). */
struct elf_span {
	uint64_t offset;
	uint64_t end;
};

typedef VEC(struct elf_span) elf_spans;

/* Sorts, and joins what overlaps or touches. */
void elf_spans_join(elf_spans *spans);
/* Which bytes of an ELF file neither names, lines and unwinding nor a listing of the code in
 * `keep` (joined) need: the rest of .text, and the data of the program.  Whatever else a section
 * or header lies on is needed.  0: *ret_spans is joined, the caller's, and empty if nothing can
 * be left out (a relocatable file, or one without sections); -EBADMSG, -ENOMEM, an I/O error. */
int elf_unneeded(struct elf_file *f, const elf_spans *keep, elf_spans *ret_spans);
