/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn_marks.h - which parts of a binary's code are what: ARM's two instruction sets, and data
 * that lies between instructions.
 * Layer: resolve.  Read-only once made.
 *
 * The assembler marks where they begin by symbols without a type ("$a", "$t", "$d", "$x"; ELF
 * for the Arm Architecture, section 5.5.5, and for AArch64 the same; RISC-V ELF psABI, "Mapping
 * Symbol").  Where such marks were stripped the lowest bit of a function's address tells
 * Thumb from ARM (ibid., 5.5.3), and where there are no functions either that of the entry. */
#pragma once
#include <stdint.h>

#include "resolve/code/insn.h"

struct elf_file;
struct insn_marks;

/* The marks of `code`, and those that `debug` has of it (NULL: there is no such file), which
 * may both be without sections yet.  What cannot be read counts as missing.  0 (also with
 * *ret_marks NULL: all is code of one kind) or -ENOMEM. */
int insn_marks_load(struct elf_file *code, struct elf_file *debug,
		    struct insn_marks **ret_marks);
void insn_marks_free(struct insn_marks *m); /* NULL is fine */
/* What the byte at a link-time address is, and up to where the same; NULL is fine. */
enum insn_mode insn_marks_at(const struct insn_marks *m, uint64_t vaddr,
			     uint64_t *ret_end);
