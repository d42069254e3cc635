/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol_rules.h - machine-specific rules for symbols: modified addresses, and names that are
 * not functions.
 * Layer: resolve, for the readers of ELF symbols. Read-only after symbol_rules_init().
 * Source: ELF for the Arm Architecture, sections 5.5.3 (odd addresses) and 5.5.5 (mapping
 * symbols), and the same for AArch64; RISC-V ELF psABI, "Mapping Symbol"; PowerPC ELFv1 ABI,
 * section 3.2.5 (function descriptors in .opd; names of code begin with a dot); GNU as's
 * documentation of MIPS (ISA bit of MIPS16 and microMIPS, "$L"). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct symbol_rules {
	uint16_t machine;
	bool swap;
	bool plain;       /* no special rules for addresses and names */
	bool odd_is_mode; /* the lowest bit of a function's address is not part of it */
	uint32_t function_types; /* bit mask of 1 << STT_... */
	/* .opd of PowerPC ELFv1: a function's symbol is the address of its descriptor, which
	 * begins with the address of the code. NULL: none. */
	uint8_t *opd;
	uint64_t opd_vaddr;
	uint64_t opd_bytes;
};

/* Reads the rules of the file that contains the code (a debug file has no descriptors). Ignores
 * data that cannot be read. Returns 0 or -ENOMEM; the caller calls symbol_rules_done() in both
 * cases. */
int symbol_rules_init(struct symbol_rules *rules, struct elf_file *f);
void symbol_rules_done(struct symbol_rules *rules);
/* Returns whether a symbol type (STT_..., four bits) is code that can be called. */
static inline bool symbol_rules_is_function(const struct symbol_rules *rules,
					    unsigned int type)
{
	return rules->function_types >> type & 1;
}
/* Returns whether an untyped symbol is only a marker of the assembler ("$x", ".L3"). */
bool symbol_rules_is_mark(const struct symbol_rules *rules, const char *name);
/* Removes the prefix that the ABI adds to *name and, if it is a function, converts its symbol's
 * value in *vaddr to the address of the code. Not needed if `plain` is set. Returns false if
 * the address is unknown. */
bool symbol_rules_translate(const struct symbol_rules *rules, bool function,
			    const char **name, uint64_t *vaddr);
