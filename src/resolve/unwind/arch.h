/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arch.h - the registers of a machine: their DWARF numbers, the order in which perf samples
 * them, and those that an unwinder tracks.
 * Layer: resolve. Constant tables.
 * Sources: the DWARF supplements of the processor ABIs (x86-64 psABI 3.6.2, i386 psABI 2.4.2,
 * AADWARF64, AADWARF32, s390x ELF ABI 1.6, Power ELFv2 2.4, RISC-V DWARF); Linux,
 * arch/.../include/uapi/asm/perf_regs.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	UNWIND_REGS = 34,     /* maximum number of slots of a frame */
	UNWIND_NO_REG = 0xff, /* no such slot */
	UNWIND_PERF_REGS = 64
};

/* For most registers, the slot is the DWARF number. */
struct unwind_arch {
	const char *name;
	uint16_t elf_machine; /* EM_... */
	bool is64;
	uint8_t nr;   /* number of slots */
	uint8_t sp;   /* slot of the stack pointer */
	uint8_t fp;   /* slot of the frame pointer; UNWIND_NO_REG: no convention */
	uint8_t link; /* slot of the return address after a call; or UNWIND_NO_REG */
	uint8_t pc;   /* slot of the program counter; or UNWIND_NO_REG */
	uint8_t frame_bias; /* the caller's stack pointer is the CFA minus this */
	uint8_t odd;        /* DWARF number of a register with another slot; 0: none */
	uint8_t odd_slot;
	uint8_t perf_pc; /* perf's index of the program counter */
	uint8_t nr_perf; /* length of the list below */
	/* The slots of perf's registers, from index 0. */
	uint8_t perf[UNWIND_PERF_REGS];
	uint64_t address_bits; /* mask of the bits that belong to a code address */
};

/* Returns the machine of an ELF file, or NULL if it is not supported. */
const struct unwind_arch *unwind_arch_of_elf(uint16_t elf_machine, bool is64);
/* Returns the machine of a recording, or NULL if it is not supported. `machine` is the name in
 * uname(2) ("x86_64", "aarch64", "armv7l"); `abi32`: the sampled process is a 32-bit one
 * (PERF_SAMPLE_REGS_ABI_32). */
const struct unwind_arch *unwind_arch_of_machine(const char *machine, bool abi32);
/* Returns the slot of a DWARF register, or UNWIND_NO_REG if it is not tracked. */
unsigned int unwind_arch_slot(const struct unwind_arch *a, uint64_t dwarf_register);
