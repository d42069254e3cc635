/* arch.h - the registers of a machine: how DWARF numbers them, in which order perf
 * copies them, and which ones an unwinder follows.
 * Layer: resolve.  Constant tables.
 * Sources: the DWARF supplements of the processor ABIs (x86-64 psABI 3.6.2, i386 psABI 2.4.2,
 * AADWARF64, AADWARF32, s390x ELF ABI 1.6, Power ELFv2 2.4, RISC-V DWARF); Linux,
 * arch/.../include/uapi/asm/perf_regs.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	UNWIND_REGS = 34,     /* slots of one frame, at most */
	UNWIND_NO_REG = 0xff, /* no such slot */
	UNWIND_PERF_REGS = 64
};

/* A slot is the DWARF number for most registers. */
struct unwind_arch {
	const char *name;
	uint16_t elf_machine; /* EM_... */
	bool is64;
	uint8_t nr;   /* slots */
	uint8_t sp;   /* the stack pointer's */
	uint8_t fp;   /* the frame pointer's, UNWIND_NO_REG: there is no convention */
	uint8_t link; /* where a call leaves the return address; or UNWIND_NO_REG */
	uint8_t pc;   /* a slot that holds the program counter; or UNWIND_NO_REG */
	uint8_t frame_bias; /* the caller's stack pointer is the CFA less this */
	uint8_t odd; /* a register's DWARF number that is not its slot; 0: there is none */
	uint8_t odd_slot;
	uint8_t perf_pc;                /* perf's number of the program counter */
	uint8_t nr_perf;                /* of the list below */
	uint8_t perf[UNWIND_PERF_REGS]; /* slots of perf's registers, from 0 */
	uint64_t
		address_bits; /* what is above them in a code address is no part of it */
};

/* NULL: unwinding is not known for it. */
const struct unwind_arch *unwind_arch_of_elf(uint16_t elf_machine, bool is64);
/* By what uname(2) calls the machine of a recording ("x86_64", "aarch64", "armv7l"), and
 * whether the sample's process was of 32 bits (PERF_SAMPLE_REGS_ABI_32). */
const struct unwind_arch *unwind_arch_of_machine(const char *machine, bool abi32);
/* The slot of a DWARF register; UNWIND_NO_REG for one that is not followed. */
unsigned int unwind_arch_slot(const struct unwind_arch *a, uint64_t dwarf_register);
