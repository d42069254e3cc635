/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.h - machine instructions as text: disassembly of code of any machine.
 * Layer: resolve.  A decoder is used by one thread at a time.
 *
 * Who decodes is a row of the table in insn.c: Zydis for x86 where it was there when this was
 * built, LLVM's C disassembler, loaded when it is first needed, for the others. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	INSN_TEXT_MAX = 192,
	INSN_BYTES_MAX = 16 /* no machine has longer ones */
};

struct insn {
	unsigned int len; /* bytes, at least 1 */
	bool bad;         /* no instruction that is known to the decoder */
	bool is_data;     /* marked as data: INSN_DATA */
	/* As the GNU assembler has it, "jne    "; where there is a target, without it. */
	char text[INSN_TEXT_MAX];
	bool has_target; /* a jump or call to `target`, the last operand */
	uint64_t target;
	bool has_data; /* an operand is in memory, at `data` (by %rip, ADR ...) */
	uint64_t data;
};

/* The machine, as in an ELF file's header. */
struct insn_machine {
	uint16_t machine; /* EM_... */
	bool is64;
	bool big; /* endian */
};

/* What bytes are. */
enum insn_mode {
	INSN_CODE,
	INSN_THUMB, /* of ARM's shorter instructions */
	INSN_DATA
};

struct insn_decoder;

/* What decodes a machine.  `begin` returns NULL where it is not there. */
struct insn_engine {
	const char *name;
	void *(*begin)(const char *triple, const struct insn_machine *machine);
	/* The length, 0: no instruction.  `len` is at most INSN_BYTES_MAX. */
	unsigned int (*decode)(void *ctx, const uint8_t *bytes, size_t len,
			       uint64_t address, struct insn *ret_insn);
	void (*end)(void *ctx);
};
extern const struct insn_engine insn_zydis;
extern const struct insn_engine insn_llvm;
/* Whether this was built with it. */
bool insn_has_zydis(void);

/* 0, -ENOTSUP (nothing here knows the machine) or -ENOMEM. */
int insn_open(const struct insn_machine *machine, struct insn_decoder **ret_decoder);
void insn_close(struct insn_decoder *d); /* NULL is fine */
const char *insn_engine_name(const struct insn_decoder *d);
/* The instruction at the beginning of `len` (1 or more) bytes, which lie at `address`.  Bytes
 * that are none become ".byte 0x..", as many as objdump takes together; data
 * becomes ".word 0x..", ".short" or ".byte". */
void insn_decode(struct insn_decoder *d, enum insn_mode mode, const uint8_t *bytes,
		 size_t len, uint64_t address, struct insn *ret_insn);
