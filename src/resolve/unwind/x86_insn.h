/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86_insn.h - decodes the length of an x86-64 or i386 instruction, and its effect on the stack and
 * on the flow of control. Not a disassembler: everything else is X86_PLAIN.
 * Layer: resolve. Constant tables. The bytes are untrusted.
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A. */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
	X86_INSN_MAX = 15, /* bytes */
	X86_RBX = 3,       /* numbers in instructions; of i386: ebx ... */
	X86_RSP = 4,
	X86_RBP = 5
};

enum x86_kind {
	X86_PLAIN, /* with `value`: changes `reg` */
	X86_PUSH,
	X86_POP,          /* into `reg` */
	X86_ADD_SP,       /* rsp += value */
	X86_SP_OF_FP,     /* rsp = rbp + value */
	X86_SP_UNKNOWN,   /* rsp = anything else */
	X86_FP_OF_SP,     /* rbp = rsp + value */
	X86_FP_UNKNOWN,   /* rbp = anything else */
	X86_LEAVE,        /* rsp = rbp; pop rbp */
	X86_LOAD_SP,      /* reg = the word at rsp + value */
	X86_LOAD_FP,      /* reg = the word at rbp + value */
	X86_CODE_ADDRESS, /* reg = address of the end of the instruction + value */
	X86_JUMP,         /* to the end of the instruction + value */
	X86_BRANCH,       /* the same, or to the next instruction */
	/* to the address in a variable at a fixed address, or (i386) relative to ebx, as a PLT
	 * entry */
	X86_JUMP_SLOT,
	X86_JUMP_INDIRECT, /* to any other address; with `value`: that in `reg` */
	X86_CALL,          /* a call to the end of the instruction + value */
	X86_CALL_INDIRECT,
	X86_RETURN, /* pops `value` more bytes */
	X86_STOP    /* ends the program, or is not an instruction */
};

struct x86_insn {
	enum x86_kind kind;
	unsigned int len; /* 0: not an instruction, or longer than the bytes */
	unsigned int reg;
	int64_t value;
};

/* Returns the decoded first instruction of `bytes`, of x86-64. A call of the next instruction, by
 * which code determines its address, is X86_PUSH. */
struct x86_insn x86_insn_decode(const uint8_t *bytes, size_t len);
/* Like x86_insn_decode(), but for i386. */
struct x86_insn x86_insn_decode_i386(const uint8_t *bytes, size_t len);
