/* symbol_rules.h - what single machines do to the symbols of their code: addresses that are
 * not quite addresses, and names that are none.
 * Layer: resolve, for the readers of ELF symbols.  Read-only once made.
 * Source of the facts: ELF for the Arm Architecture, sections 5.5.3 (odd addresses) and 5.5.5
 * (mapping symbols), and the same for AArch64; RISC-V ELF psABI, "Mapping Symbol"; PowerPC
 * ELFv1 ABI, section 3.2.5 (function descriptors in .opd; a name with a dot in front is that
 * of the code); GNU as's documentation of MIPS (ISA bit of MIPS16 and microMIPS, "$L"). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct elf_file;

struct symbol_rules {
	uint16_t machine;
	bool swap;
	bool plain;       /* addresses and names are what they look like */
	bool odd_is_mode; /* the lowest bit of a function's address is no address */
	uint32_t function_types; /* bits 1 << STT_... */
	/* .opd of PowerPC ELFv1: a function's symbol is at its descriptor, which begins with
	 * the code's address.  NULL: none. */
	uint8_t *opd;
	uint64_t opd_vaddr;
	uint64_t opd_bytes;
};

/* Of the file that has the code: a debug file has no descriptors.  What cannot be read counts
 * as missing.  0 or -ENOMEM; symbol_rules_done() is due in either case. */
int symbol_rules_init(struct symbol_rules *rules, struct elf_file *f);
void symbol_rules_done(struct symbol_rules *rules);
/* Whether STT_... (of four bits) is code that can be called. */
static inline bool symbol_rules_is_function(const struct symbol_rules *rules,
					    unsigned int type)
{
	return rules->function_types >> type & 1;
}
/* Whether an untyped symbol is but a mark of the assembler ("$x", ".L3"). */
bool symbol_rules_is_mark(const struct symbol_rules *rules, const char *name);
/* Unless they are plain: *name without what the ABI puts in front, and of a function (its
 * symbol's value is in *vaddr) where the code begins.  False: nobody knows. */
bool symbol_rules_translate(const struct symbol_rules *rules, bool function,
			    const char **name, uint64_t *vaddr);
