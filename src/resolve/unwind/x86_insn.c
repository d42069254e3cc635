/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/x86_insn.h"

#include <stdbool.h>
#include <string.h>

enum {
	PREFIX_REP = 0xf3,
	REX_W = 8,
	REX_R = 4,
	REX_X = 2,
	REX_B = 1,
	MOD_REGISTER = 3,
	REGISTERS_PUSHA = 8
};

/* An instruction that is being decoded. */
struct x86_decoding {
	const uint8_t *bytes;
	size_t len, at;
	bool failed;
	bool is_i386;
	bool is_short; /* operands of 16 bits */
	bool is_near;  /* addresses of half the size */
	uint8_t rex;
	uint8_t opcode;
	uint8_t mod, rm; /* rm, reg: with the bits of the REX prefix */
	uint8_t reg;
	bool has_base;  /* memory at `base` + displacement, without an index */
	bool is_global; /* memory at a fixed address */
	uint8_t base;
	int64_t displacement;
};

static uint8_t x86_byte(struct x86_decoding *d)
{
	if (d->at >= d->len) {
		d->failed = true;
		return 0;
	}
	return d->bytes[d->at++];
}

/* Returns a signed number of up to 4 bytes. */
static int64_t x86_number(struct x86_decoding *d, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)x86_byte(d) << (8 * i);
	if (bytes == 1)
		return (int8_t)v;
	return bytes == 2 ? (int16_t)v : (int32_t)v;
}

static unsigned int x86_word(const struct x86_decoding *d)
{
	return d->is_i386 ? 4 : 8;
}

/* Returns whether the operands have the size of an address. */
static bool x86_is_wide(const struct x86_decoding *d)
{
	return d->is_i386 ? !d->is_short : d->rex & REX_W;
}

static void x86_modrm(struct x86_decoding *d)
{
	uint8_t byte = x86_byte(d), sib;
	uint8_t rm = byte & 7;

	/* Compilers use no addresses of 16 bits. */
	d->failed |= d->is_i386 && d->is_near && byte >> 6 != MOD_REGISTER;
	d->mod = byte >> 6;
	d->reg = (byte >> 3 & 7) | (d->rex & REX_R ? 8 : 0);
	d->rm = rm | (d->rex & REX_B ? 8 : 0);
	if (d->mod == MOD_REGISTER)
		return;
	d->has_base = true;
	d->base = d->rm;
	if (rm == 4) {
		sib = x86_byte(d);
		rm = sib & 7;
		d->base = rm | (d->rex & REX_B ? 8 : 0);
		d->has_base = (sib >> 3 & 7) == 4 && !(d->rex & REX_X);
		if (rm == 5 && !d->mod) {
			d->has_base = false;
			d->is_global = (sib >> 3 & 7) == 4 && !(d->rex & REX_X);
			d->displacement = x86_number(d, 4);
		}
	} else if (rm == 5 && !d->mod) {
		d->has_base = false;
		d->is_global = true;
		d->displacement = x86_number(d, 4);
	}
	if (d->mod == 1)
		d->displacement = x86_number(d, 1);
	if (d->mod == 2)
		d->displacement = x86_number(d, 4);
}

static struct x86_insn x86_of(enum x86_kind kind, int64_t value)
{
	return (struct x86_insn){ .kind = kind, .value = value };
}

static struct x86_insn x86_set(unsigned int reg)
{
	enum x86_kind kind = X86_PLAIN;

	if (reg == X86_RSP)
		kind = X86_SP_UNKNOWN;
	if (reg == X86_RBP)
		kind = X86_FP_UNKNOWN;
	return (struct x86_insn){ .kind = kind, .reg = reg, .value = 1 };
}

/* ---- opcodes of two and three bytes, and vector instructions ---- */

static bool x86_has_immediate(uint8_t opcode)
{
	return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xa4 || opcode == 0xac ||
	       opcode == 0xba || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) ||
	       opcode == 0x0f;
}

/* Returns whether an opcode has no operands, like syscall, wrmsr and cpuid. */
static bool x86_has_no_operand(uint8_t opcode)
{
	return (opcode >= 0x05 && opcode <= 0x09) || opcode == 0x0e ||
	       (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 || opcode == 0xa2 ||
	       opcode == 0xaa;
}

static struct x86_insn x86_two_bytes(struct x86_decoding *d)
{
	uint8_t op = x86_byte(d);

	if (op == 0x38 || op == 0x3a) {
		x86_byte(d);
		x86_modrm(d);
		if (op == 0x3a)
			x86_byte(d);
		return x86_of(X86_PLAIN, 0);
	}
	if (op >= 0x80 && op <= 0x8f)
		return x86_of(X86_BRANCH, x86_number(d, 4));
	if (op == 0x0b)
		return x86_of(X86_STOP, 0);
	if (op == 0xa0 || op == 0xa8)
		return x86_of(X86_PUSH, 0);
	if (op == 0xa1 || op == 0xa9)
		return (struct x86_insn){ .kind = X86_POP };
	if (x86_has_no_operand(op))
		return x86_of(X86_PLAIN, 0);
	if (op >= 0xc8 && op <= 0xcf)
		return x86_set((op & 7U) | (d->rex & REX_B ? 8U : 0));
	x86_modrm(d);
	if (x86_has_immediate(op))
		x86_byte(d);
	/* cmov, imul, movzx, movsx, bsf ... */
	if ((op >= 0x40 && op <= 0x4f) || op == 0xaf || (op >= 0xb6 && op <= 0xbf))
		return op == 0xba ? x86_of(X86_PLAIN, 0) : x86_set(d->reg);
	return x86_of(X86_PLAIN, 0);
}

/* Returns whether a vector instruction follows: on i386, C4, C5 and 62 also are lds, les and bound,
 * which have no operand in a register. */
static bool x86_is_vector(const struct x86_decoding *d)
{
	return !d->is_i386 || (d->at < d->len && d->bytes[d->at] >> 6 == MOD_REGISTER);
}

/* Decodes instructions with VEX (C4, C5) and EVEX (62), which do not change the stack pointer. */
static struct x86_insn x86_vector(struct x86_decoding *d, uint8_t first)
{
	unsigned int map = 1;
	uint8_t op, p = x86_byte(d);

	d->rex = p & 0x80 || d->is_i386 ? 0 : REX_R;
	if (first != 0xc5) {
		map = p & (first == 0x62 ? 7 : 31);
		if (!d->is_i386)
			d->rex |= (p & 0x40 ? 0 : REX_X) | (p & 0x20 ? 0 : REX_B);
		x86_byte(d);
		if (first == 0x62)
			x86_byte(d);
	}
	op = x86_byte(d);
	if (map == 1 && op == 0x77)
		return x86_of(X86_PLAIN, 0);
	x86_modrm(d);
	if (map == 3 || (map == 1 && x86_has_immediate(op)))
		x86_byte(d);
	return map >= 1 && map <= 6 ? x86_of(X86_PLAIN, 0) : x86_of(X86_STOP, 0);
}

/* ---- opcodes of one byte ---- */

static unsigned int x86_immediate_bytes(const struct x86_decoding *d)
{
	return d->is_short ? 2 : 4;
}

/* Decodes push and pop of segment registers, and daa, das, aaa and aas. */
static struct x86_insn x86_segment(const struct x86_decoding *d)
{
	if (!d->is_i386)
		return x86_of(X86_STOP, 0);
	if (d->opcode >= 0x20)
		return x86_of(X86_PLAIN, 0);
	return d->opcode & 1 ? x86_of(X86_ADD_SP, x86_word(d)) : x86_of(X86_PUSH, 0);
}

/* Decodes add, or, adc, sbb, and, sub, xor and cmp. */
static struct x86_insn x86_arithmetic(struct x86_decoding *d)
{
	uint8_t op = d->opcode;
	bool is_compare = op >> 3 == 7;

	switch (op & 7) {
	case 4:
		x86_byte(d);
		return x86_of(X86_PLAIN, 0);
	case 5:
		x86_number(d, x86_immediate_bytes(d));
		return x86_of(X86_PLAIN, 0);
	case 6:
	case 7:
		return x86_segment(d);
	default:
		x86_modrm(d);
		if (is_compare || (!(op & 2) && d->mod != MOD_REGISTER))
			return x86_of(X86_PLAIN, 0);
		return x86_set(op & 2 ? d->reg : d->rm);
	}
}

/* Decodes arithmetic with an immediate operand. */
static struct x86_insn x86_immediate(struct x86_decoding *d)
{
	unsigned int what;
	int64_t value;

	x86_modrm(d);
	value = x86_number(d, d->opcode == 0x81 ? x86_immediate_bytes(d) : 1);
	what = d->reg & 7;
	if (d->mod != MOD_REGISTER || what == 7)
		return x86_of(X86_PLAIN, 0);
	if (d->rm == X86_RSP && x86_is_wide(d) && (what == 0 || what == 5))
		return x86_of(X86_ADD_SP, what ? -value : value);
	return x86_set(d->rm);
}

static struct x86_insn x86_move(struct x86_decoding *d)
{
	bool is_wide = x86_is_wide(d);
	unsigned int from, to;

	x86_modrm(d);
	to = d->opcode == 0x8b ? d->reg : d->rm;
	from = d->opcode == 0x8b ? d->rm : d->reg;
	if (d->mod == MOD_REGISTER) {
		if (is_wide && to == X86_RSP && from == X86_RBP)
			return x86_of(X86_SP_OF_FP, 0);
		if (is_wide && to == X86_RBP && from == X86_RSP)
			return x86_of(X86_FP_OF_SP, 0);
		return x86_set(to);
	}
	if (d->opcode == 0x89)
		return x86_of(X86_PLAIN, 0);
	if (to != X86_RSP && is_wide && d->has_base &&
	    (d->base == X86_RSP || d->base == X86_RBP))
		return (struct x86_insn){ .kind = d->base == X86_RSP ? X86_LOAD_SP
								     : X86_LOAD_FP,
					  .reg = to,
					  .value = d->displacement };
	return x86_set(to);
}

static struct x86_insn x86_address(struct x86_decoding *d)
{
	x86_modrm(d);
	if (d->mod == MOD_REGISTER)
		return x86_of(X86_STOP, 0);
	if (d->has_base && x86_is_wide(d)) {
		if (d->reg == X86_RSP && d->base == X86_RSP)
			return x86_of(X86_ADD_SP, d->displacement);
		if (d->reg == X86_RSP && d->base == X86_RBP)
			return x86_of(X86_SP_OF_FP, d->displacement);
		if (d->reg == X86_RBP && d->base == X86_RSP)
			return x86_of(X86_FP_OF_SP, d->displacement);
	}
	if (d->is_global && (d->rm & 7) == 5 && d->rex & REX_W && d->reg != X86_RSP &&
	    d->reg != X86_RBP)
		return (struct x86_insn){ .kind = X86_CODE_ADDRESS,
					  .reg = d->reg,
					  .value = d->displacement };
	return x86_set(d->reg);
}

/* Returns whether the operand is a variable of the global offset table, as far as its form shows:
 * on i386, ebx has the address of the table. */
static bool x86_is_slot(const struct x86_decoding *d)
{
	return d->is_global || (d->is_i386 && d->mod != MOD_REGISTER && d->has_base &&
				d->base == X86_RBX && d->displacement);
}

/* Groups with the operation in the register field: F6, F7, FE, FF. */
static struct x86_insn x86_group(struct x86_decoding *d)
{
	unsigned int what;

	x86_modrm(d);
	what = d->reg & 7;
	if (d->opcode == 0xf6 && what < 2)
		x86_byte(d);
	if (d->opcode == 0xf7 && what < 2)
		x86_number(d, x86_immediate_bytes(d));
	if (d->opcode == 0xff && what == 2)
		return x86_of(X86_CALL_INDIRECT, 0);
	if (d->opcode == 0xff && what == 4)
		return (struct x86_insn){ .kind = x86_is_slot(d) ? X86_JUMP_SLOT
								 : X86_JUMP_INDIRECT,
					  .reg = d->rm,
					  .value = d->mod == MOD_REGISTER };
	if (d->opcode == 0xff && (what == 3 || what == 5 || what == 7))
		return x86_of(X86_STOP, 0);
	if (d->opcode == 0xff && what == 6)
		return x86_of(X86_PUSH, 0);
	return d->mod == MOD_REGISTER ? x86_set(d->rm) : x86_of(X86_PLAIN, 0);
}

/* Opcodes of i386 from 0x40 to 0x4f and from 0x60 to 0x63. */
static struct x86_insn x86_old(struct x86_decoding *d)
{
	uint8_t op = d->opcode;

	if (op < 0x50)
		return x86_set(op & 7U);
	switch (op) {
	case 0x60:
		return x86_of(X86_ADD_SP, -(int64_t)(REGISTERS_PUSHA * x86_word(d)));
	case 0x61: /* restores ebp */
		return x86_of(X86_SP_UNKNOWN, 1);
	default:
		x86_modrm(d);
		return x86_of(X86_PLAIN, 0);
	}
}

/* Opcodes from 0x40 to 0x7f. */
static struct x86_insn x86_middle(struct x86_decoding *d)
{
	uint8_t op = d->opcode;

	if (d->is_i386 && (op < 0x50 || (op >= 0x60 && op <= 0x63)))
		return x86_old(d);
	if (op >= 0x70)
		return x86_of(X86_BRANCH, x86_number(d, 1));
	if (op >= 0x50 && op <= 0x57)
		return x86_of(X86_PUSH, 0);
	if (op >= 0x58 && op <= 0x5f)
		return (struct x86_insn){
			.kind = X86_POP, .reg = (op & 7U) | (d->rex & REX_B ? 8U : 0)
		};
	switch (op) {
	case 0x63:
		x86_modrm(d);
		return x86_set(d->reg);
	case 0x68:
		x86_number(d, x86_immediate_bytes(d));
		return x86_of(X86_PUSH, 0);
	case 0x6a:
		x86_byte(d);
		return x86_of(X86_PUSH, 0);
	case 0x69:
	case 0x6b:
		x86_modrm(d);
		x86_number(d, op == 0x6b ? 1 : x86_immediate_bytes(d));
		return x86_set(d->reg);
	case 0x6c:
	case 0x6d:
	case 0x6e:
	case 0x6f:
		return x86_of(X86_PLAIN, 0);
	default:
		return x86_of(X86_STOP, 0);
	}
}

/* Opcodes from 0x80 to 0x8f. */
static struct x86_insn x86_eighties(struct x86_decoding *d)
{
	switch (d->opcode) {
	case 0x80:
	case 0x81:
	case 0x83:
		return x86_immediate(d);
	case 0x89:
	case 0x8b:
		return x86_move(d);
	case 0x8d:
		return x86_address(d);
	case 0x82:
		return x86_of(X86_STOP, 0);
	case 0x8f:
		x86_modrm(d);
		/* Otherwise, an XOP instruction. */
		return x86_of(d->reg & 7 ? X86_STOP : X86_ADD_SP, x86_word(d));
	default:
		x86_modrm(d);
		if (d->opcode == 0x86 || d->opcode == 0x87)
			return d->mod == MOD_REGISTER && d->rm == X86_RSP
				       ? x86_set(d->rm)
				       : x86_set(d->reg);
		return x86_of(X86_PLAIN, 0);
	}
}

/* Opcodes from 0x90 to 0xbf. */
static struct x86_insn x86_nineties(struct x86_decoding *d)
{
	uint8_t op = d->opcode;
	unsigned int reg = (op & 7U) | (d->rex & REX_B ? 8U : 0);

	if (op >= 0xb8) {
		x86_number(d, x86_immediate_bytes(d));
		if (d->rex & REX_W)
			x86_number(d, 4);
		return x86_set(reg);
	}
	if (op >= 0xb0) {
		x86_byte(d);
		return x86_of(X86_PLAIN, 0);
	}
	if (op < 0x98)
		return x86_set(reg);
	if (op == 0x9c)
		return x86_of(X86_PUSH, 0);
	if (op == 0x9d)
		return (struct x86_insn){ .kind = X86_POP };
	if (op >= 0xa0 && op <= 0xa3)
		d->at += x86_word(d);
	if (op == 0xa8)
		x86_byte(d);
	if (op == 0xa9)
		x86_number(d, x86_immediate_bytes(d));
	return x86_of(op == 0x9a ? X86_STOP : X86_PLAIN, 0);
}

/* Opcodes from 0xc0 on. */
static struct x86_insn x86_last(struct x86_decoding *d)
{
	uint8_t op = d->opcode;
	int64_t value;

	switch (op) {
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
		x86_modrm(d);
		x86_number(d, op == 0xc7 ? x86_immediate_bytes(d) : 1);
		return d->mod == MOD_REGISTER ? x86_set(d->rm) : x86_of(X86_PLAIN, 0);
	case 0xc2:
		return x86_of(X86_RETURN, x86_number(d, 2) & 0xffff);
	case 0xc3:
		return x86_of(X86_RETURN, 0);
	case 0xc4:
	case 0xc5:
		if (x86_is_vector(d))
			return x86_vector(d, op);
		x86_modrm(d); /* lds, les */
		return x86_set(d->reg);
	case 0xc9:
		return x86_of(X86_LEAVE, 0);
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
		return x86_of(X86_BRANCH, x86_number(d, 1));
	case 0xe8:
		value = x86_number(d, 4);
		return x86_of(value ? X86_CALL : X86_PUSH, value);
	case 0xe9:
		return x86_of(X86_JUMP, x86_number(d, 4));
	case 0xeb:
		return x86_of(X86_JUMP, x86_number(d, 1));
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return x86_group(d);
	case 0xd7:
	case 0xf5:
	case 0xf8:
	case 0xf9:
	case 0xfc:
	case 0xfd:
		return x86_of(X86_PLAIN, 0);
	default:
		if (op >= 0xd0 && op <= 0xdf && op != 0xd4 && op != 0xd5 &&
		    op != 0xd6) {
			x86_modrm(d);
			return x86_of(X86_PLAIN, 0);
		}
		/* int3, hlt, in, out, enter, iret, far calls */
		return x86_of(X86_STOP, 0);
	}
}

static void x86_prefixes(struct x86_decoding *d)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0x2e, 0x36, 0x3e,      0x26,
					    0x64, 0x65, 0xf0, 0xf2, PREFIX_REP };

	for (;;) {
		d->opcode = x86_byte(d);
		if (d->failed || !memchr(prefixes, d->opcode, sizeof(prefixes)))
			break;
		d->is_short |= d->opcode == 0x66;
		d->is_near |= d->opcode == 0x67;
	}
	if (!d->is_i386 && d->opcode >> 4 == 4) {
		d->rex = d->opcode;
		d->is_short &= !(d->rex & REX_W);
		d->opcode = x86_byte(d);
	}
}

static struct x86_insn x86_decode(const uint8_t *bytes, size_t len, bool is_i386)
{
	struct x86_decoding d = { .bytes = bytes,
				  .len = len < X86_INSN_MAX ? len : X86_INSN_MAX,
				  .is_i386 = is_i386 };
	struct x86_insn insn;

	x86_prefixes(&d);
	if (d.opcode == 0x0f)
		insn = x86_two_bytes(&d);
	else if (d.opcode == 0x62 && x86_is_vector(&d))
		insn = x86_vector(&d, d.opcode);
	else if (d.opcode < 0x40)
		insn = x86_arithmetic(&d);
	else if (d.opcode < 0x80)
		insn = x86_middle(&d);
	else if (d.opcode < 0x90)
		insn = x86_eighties(&d);
	else if (d.opcode < 0xc0)
		insn = x86_nineties(&d);
	else
		insn = x86_last(&d);
	if (d.failed || d.at > d.len)
		return (struct x86_insn){ .kind = X86_STOP };
	insn.len = (unsigned int)d.at;
	return insn;
}

struct x86_insn x86_insn_decode(const uint8_t *bytes, size_t len)
{
	return x86_decode(bytes, len, false);
}

struct x86_insn x86_insn_decode_i386(const uint8_t *bytes, size_t len)
{
	return x86_decode(bytes, len, true);
}
