/* eh_frame.h - where functions begin and end, as the unwind entries (FDEs) of an ELF file
 * say: also a stripped file has them.
 * Layer: resolve.  Built once, then read-only.
 * Source of the format: Linux Standard Base Core 5.0, sections 10.5 and 10.6 (.eh_frame,
 * .eh_frame_hdr and their DW_EH_PE_ encodings); DWARF 5, section 6.4.1. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"

struct elf_file;
struct err;

struct eh_function {
	uint64_t start; /* link-time address */
	uint64_t bytes; /* never 0, and never beyond the end of the address space */
};

struct eh_frame {
	VEC(struct eh_function) functions; /* by start */
};

/* Reads the FDEs of .eh_frame, found by its section's name or, without sections, through
 * the segment PT_GNU_EH_FRAME (.eh_frame_hdr).  What cannot be decoded is skipped; a broken
 * chain of entries ends there.  elf_file_sections() came before.
 * 0 (eh_frame_done() is due; none found is 0 too), -ENOMEM, or an I/O error. */
int eh_frame_load(struct elf_file *f, struct eh_frame *ret_frames);
/* The same from the bytes of an .eh_frame section that is mapped at `vaddr`. */
int eh_frame_parse(const void *bytes, size_t len, uint64_t vaddr, bool is64, bool swap,
		   struct eh_frame *ret_frames);
/* The function covering `vaddr`, or NULL: of several the one that starts last. */
const struct eh_function *eh_frame_find(const struct eh_frame *frames, uint64_t vaddr);
void eh_frame_done(struct eh_frame *frames);
