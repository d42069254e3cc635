/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.h - disassembles machine instructions of many machines.
 * Layer: resolve. Only one thread at a time may use a decoder.
 *
 * The table in insn.c selects the disassembler. For x86 it is libopcodes of binutils, whose text is
 * objdump's, if this machine has the version of the build; else Zydis, if it was available at build
 * time. For other machines it is LLVM's C disassembler. libopcodes and LLVM are loaded at the first
 * use. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INSN_TEXT_MAX = 192,
	INSN_BYTES_MAX = 16 /* maximum of all machines */
};

struct insn {
	unsigned int len; /* in bytes, at least 1 */
	bool bad;         /* not a known instruction */
	bool is_data;     /* marked as data: INSN_DATA */
	/* The instruction in GNU assembler syntax; without the target if it has one ("jne "). */
	char text[INSN_TEXT_MAX];
	bool has_target; /* a jump or call to `target`, which is the last operand */
	uint64_t target;
	bool has_data; /* has a memory operand at `data` (by %rip, ADR ...) */
	uint64_t data;
};

/* The machine, as in an ELF header. */
struct insn_machine {
	uint16_t machine; /* EM_... */
	bool is64;
	bool big; /* big-endian */
};

/* The meaning of bytes. */
enum insn_mode {
	INSN_CODE,
	INSN_THUMB, /* ARM's Thumb instructions */
	INSN_DATA
};

struct insn_decoder;

/* A disassembler. `begin` returns NULL if it is not available. */
struct insn_engine {
	const char *name;
	void *(*begin)(const char *triple, const struct insn_machine *machine);
	/* Decodes an instruction of at most `len` (up to INSN_BYTES_MAX) bytes. Returns its
	 * length; 0: not an instruction. */
	unsigned int (*decode)(void *ctx, const uint8_t *bytes, size_t len,
			       uint64_t address, struct insn *ret_insn);
	void (*end)(void *ctx);
};
extern const struct insn_engine insn_opcodes;
extern const struct insn_engine insn_zydis;
extern const struct insn_engine insn_llvm;
/* Return whether this build includes Zydis, and whether it can load libopcodes. */
bool insn_has_zydis(void);
bool insn_has_opcodes(void);

/* Makes a decoder for a machine. Returns 0, -ENOTSUP (no disassembler for the machine) or
 * -ENOMEM. */
int insn_open(const struct insn_machine *machine, struct insn_decoder **ret_decoder);
void insn_close(struct insn_decoder *d); /* accepts NULL */
const char *insn_engine_name(const struct insn_decoder *d);
/* Decodes the instruction at the start of `len` (at least 1) bytes at `address`. Bytes that are
 * not an instruction become ".byte 0x..", in groups like objdump's; data becomes ".word 0x..",
 * ".short" or ".byte". */
void insn_decode(struct insn_decoder *d, enum insn_mode mode, const uint8_t *bytes,
		 size_t len, uint64_t address, struct insn *ret_insn);
