/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn_marks.h - distinguishes ARM's two instruction sets, and data between instructions.
 * Layer: resolve. Read-only after insn_marks_load().
 *
 * The assembler marks each change with an untyped symbol ("$a", "$t", "$d", "$x"; ELF for the
 * Arm Architecture, section 5.5.5, and the same for AArch64; RISC-V ELF psABI, "Mapping
 * Symbol"). If these symbols were stripped, the lowest bit of a function's address
 * distinguishes Thumb from ARM (ibid., 5.5.3); if there are no functions, that of the entry
 * point does. */
#pragma once
#include <stdint.h>

#include "resolve/code/insn.h"

struct elf_file;
struct insn_marks;

/* Reads the marks in `code`, and in its debug file `debug` (NULL: none). Section headers need
 * not be read before. Ignores data that cannot be read. Returns 0 or -ENOMEM. *ret_marks is NULL
 * if the machine has no mapping symbols, or the file is relocatable. */
int insn_marks_load(struct elf_file *code, struct elf_file *debug,
		    struct insn_marks **ret_marks);
void insn_marks_free(struct insn_marks *m); /* accepts NULL */
/* Returns the mode of the byte at a link-time address, and where this mode ends. Accepts NULL. */
enum insn_mode insn_marks_at(const struct insn_marks *m, uint64_t vaddr,
			     uint64_t *ret_end);
