/* SPDX-License-Identifier: GPL-2.0-or-later */
/* eh_frame.h - the address ranges of functions, from the unwind entries (FDEs) of an ELF file,
 * which stripped files also have.
 * Layer: resolve. Built once, then read-only.
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

/* Reads the FDEs of .eh_frame (in a PE file without it, the table of functions), located by its
 * section name or, without sections, by the segment PT_GNU_EH_FRAME (.eh_frame_hdr). Skips entries
 * that cannot be decoded, and ends where the chain of entries is broken. Call elf_file_sections()
 * first. Returns 0 (also if there are none), -ENOMEM, or an I/O error. The caller calls
 * eh_frame_done() only after 0. */
int eh_frame_load(struct elf_file *f, struct eh_frame *ret_frames);
/* Like eh_frame_load(), for the bytes of an .eh_frame section that is mapped at `vaddr`. */
int eh_frame_parse(const void *bytes, size_t len, uint64_t vaddr, bool is64, bool swap,
		   struct eh_frame *ret_frames);
/* Returns the function that covers `vaddr`, or NULL. Of several, returns the one that starts
 * last. */
const struct eh_function *eh_frame_find(const struct eh_frame *frames, uint64_t vaddr);
void eh_frame_done(struct eh_frame *frames);
