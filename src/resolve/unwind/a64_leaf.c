/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source of the encodings: Arm Architecture Reference Manual for A-profile, chapter C4. */
#include "resolve/unwind/a64_leaf.h"

#include <stddef.h>

#include "resolve/unwind/bare.h"

enum {
	INSN_BYTES = 4,
	BLOCKS_MAX = 64,  /* branches that are followed in one search */
	INSNS_MAX = 2048, /* of one search */
	STUB_INSNS = 5,
	LINK = 30,
	SP = 31
};

enum a64_kind {
	A64_PLAIN,
	A64_ADD_SP, /* sp += value */
	A64_JUMP,   /* to the instruction + value */
	A64_BRANCH, /* the same, or to the next instruction */
	A64_CALL,   /* of the instruction + value */
	A64_CALL_INDIRECT,
	A64_RETURN,        /* to the link register */
	A64_JUMP_INDIRECT, /* a jump table, or a call in tail position */
	A64_UNKNOWN /* changes the stack pointer, the link register or a saved register */
};

struct a64_insn {
	enum a64_kind kind;
	int64_t value;
};

/* ---- instructions ---- */

/* Returns bits [low, low + nr) as a signed number. */
static int64_t a64_signed(uint32_t insn, unsigned int low, unsigned int nr)
{
	const int64_t v = insn >> low & ((1U << nr) - 1);

	return v < 1LL << (nr - 1) ? v : v - (1LL << nr);
}

/* Returns whether the register is the link register, or one that a function must restore before
 * it returns. */
static bool a64_is_saved(uint32_t reg)
{
	return reg >= 19 && reg <= LINK;
}

static bool a64_decode_branch(uint32_t insn, struct a64_insn *ret)
{
	if ((insn & 0xfffffbff) == 0xd65f0bff || insn == 0xd65f03c0)
		*ret = (struct a64_insn){ A64_RETURN, 0 };
	else if ((insn & 0x7c000000) == 0x14000000)
		*ret = (struct a64_insn){ insn >> 31 ? A64_CALL : A64_JUMP,
					  a64_signed(insn, 0, 26) * INSN_BYTES };
	else if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000)
		*ret = (struct a64_insn){ A64_BRANCH,
					  a64_signed(insn, 5, 19) * INSN_BYTES };
	else if ((insn & 0x7e000000) == 0x36000000)
		*ret = (struct a64_insn){ A64_BRANCH,
					  a64_signed(insn, 5, 14) * INSN_BYTES };
	else if ((insn & 0xfedff000) == 0xd61f0000) /* br, blr; with authentication */
		*ret = (struct a64_insn){ insn >> 21 & 1 ? A64_CALL_INDIRECT
							 : A64_JUMP_INDIRECT,
					  0 };
	else if ((insn & 0xfe000000) == 0xd6000000)
		*ret = (struct a64_insn){ A64_UNKNOWN, 0 };
	else
		return false;
	return true;
}

/* Decodes additions and logical operations that write the stack pointer. Returns false for all
 * other instructions. */
static bool a64_decode_constant(uint32_t insn, struct a64_insn *ret)
{
	const int64_t value = (int64_t)(insn >> 10 & 0xfff)
			      << (insn >> 22 & 1 ? 12 : 0);
	const bool sets_flags = insn >> 29 & 1;

	if ((insn & 0x1f) != SP)
		return false;
	if ((insn & 0x1f800000) == 0x11000000 && !sets_flags) {
		*ret = (struct a64_insn){ A64_UNKNOWN, 0 };
		if ((insn >> 5 & 0x1f) == SP && insn >> 31)
			*ret = (struct a64_insn){ A64_ADD_SP,
						  insn >> 30 & 1 ? -value : value };
		return true;
	}
	/* Additions of registers, and logical operations except ANDS. */
	if (((insn & 0x1fe00000) == 0x0b200000 && !sets_flags) ||
	    ((insn & 0x1f800000) == 0x12000000 && (insn >> 29 & 3) != 3)) {
		*ret = (struct a64_insn){ A64_UNKNOWN, 0 };
		return true;
	}
	return false;
}

/* Decodes loads and stores of one register or of a pair, relative to any register. Returns false
 * for all other instructions. */
static bool a64_decode_memory(uint32_t insn, struct a64_insn *ret)
{
	const uint32_t base = insn >> 5 & 0x1f, first = insn & 0x1f,
		       second = insn >> 10 & 0x1f;
	const bool is_pair = (insn & 0x3a000000) == 0x28000000;
	const bool is_one = (insn & 0x3a000000) == 0x38000000;
	const bool is_vector = insn >> 26 & 1;
	const bool is_load = is_pair ? insn >> 22 & 1 : insn >> 22 & 3;
	bool writes_base;

	if (!is_pair && !is_one)
		return false;
	writes_base =
		is_pair ? insn >> 23 & 1
			: !(insn >> 24 & 1) && !(insn >> 21 & 1) && insn >> 10 & 1;
	*ret = (struct a64_insn){ A64_PLAIN, 0 };
	if (writes_base && base == SP)
		*ret = (struct a64_insn){
			A64_ADD_SP, is_pair ? a64_signed(insn, 15, 7) *
						      (is_vector    ? 4 << (insn >> 30)
						       : insn >> 31 ? 8
								    : 4)
					    : a64_signed(insn, 12, 9)
		};
	if (!is_vector && is_load &&
	    (a64_is_saved(first) || (is_pair && a64_is_saved(second))))
		*ret = (struct a64_insn){ A64_UNKNOWN, 0 };
	return true;
}

static struct a64_insn a64_decode(uint32_t insn)
{
	struct a64_insn r = { A64_PLAIN, 0 };

	if (!(insn >> 16)) /* udf */
		return (struct a64_insn){ A64_UNKNOWN, 0 };
	if (a64_decode_branch(insn, &r) || a64_decode_constant(insn, &r) ||
	    a64_decode_memory(insn, &r))
		return r;
	/* Data processing; other encodings of system registers, vectors and exclusive loads
	 * rarely use this register, so a false alarm costs little. */
	if ((insn & 0x1f) == LINK)
		r.kind = A64_UNKNOWN;
	return r;
}

static bool a64_fetch(const struct unwind_bare_ops *ops, uint64_t at, uint32_t *ret)
{
	uint8_t bytes[INSN_BYTES];

	if (at % INSN_BYTES || ops->code(ops->ctx, at, bytes, INSN_BYTES) != INSN_BYTES)
		return false;
	*ret = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
	return true;
}

/* ---- the search ---- */

struct a64_block {
	uint64_t at;
	int64_t sp; /* relative to the stack pointer at the start */
};

/* A search from one location to `goal`, or, if that is 0, to the end of the function. */
struct a64_search {
	const struct unwind_bare_ops *ops;
	uint64_t goal;
	struct a64_block blocks[BLOCKS_MAX]; /* their begins, each followed once */
	size_t nr_blocks;
	size_t nr_insns;
};

static void a64_follow_later(struct a64_search *s, uint64_t at, int64_t sp)
{
	for (size_t i = 0; i < s->nr_blocks; i++)
		if (s->blocks[i].at == at)
			return;
	if (s->nr_blocks < BLOCKS_MAX)
		s->blocks[s->nr_blocks++] = (struct a64_block){ at, sp };
}

/* Follows code up to the first instruction after which it does not continue. Returns true if it
 * led to the goal or, without a goal, to a return. */
static bool a64_follow(struct a64_search *s, struct a64_block b, int64_t *ret_sp)
{
	uint32_t word;

	for (; s->nr_insns++ < INSNS_MAX; b.at += INSN_BYTES) {
		struct a64_insn insn;

		*ret_sp = b.sp;
		if (s->goal && b.at == s->goal)
			return true;
		if (!a64_fetch(s->ops, b.at, &word))
			return false;
		insn = a64_decode(word);
		switch (insn.kind) {
		case A64_PLAIN:
			break;
		case A64_ADD_SP:
			b.sp += insn.value;
			break;
		case A64_BRANCH:
			a64_follow_later(s, b.at + (uint64_t)insn.value, b.sp);
			break;
		case A64_JUMP:
			a64_follow_later(s, b.at + (uint64_t)insn.value, b.sp);
			return false;
		case A64_RETURN:
			return !s->goal;
		case A64_CALL:
		case A64_CALL_INDIRECT:
		case A64_JUMP_INDIRECT:
		case A64_UNKNOWN:
		default:
			return false;
		}
	}
	return false;
}

static bool a64_search(const struct unwind_bare_ops *ops, uint64_t from, uint64_t goal,
		       int64_t *ret_sp)
{
	struct a64_search s = { .ops = ops, .goal = goal };

	a64_follow_later(&s, from, 0);
	for (size_t i = 0; i < s.nr_blocks; i++)
		if (a64_follow(&s, s.blocks[i], ret_sp))
			return true;
	return false;
}

/* ---- the call ---- */

/* Returns whether the code is a PLT entry: it computes the address of its slot in x16, and jumps
 * to the address in x17 that it loads from there. */
static bool a64_is_stub(const struct unwind_bare_ops *ops, uint64_t at)
{
	bool has_page = false;
	uint32_t insn;

	for (int i = 0; i < STUB_INSNS && a64_fetch(ops, at, &insn); i++) {
		if ((insn & 0x9f00001f) == 0x90000010) /* adrp x16 */
			has_page = true;
		else if (insn == 0xd61f0220) /* br x17 */
			return has_page;
		at += INSN_BYTES;
	}
	return false;
}

bool a64_leaf_caller(const struct unwind_bare_ops *ops, uint64_t pc, uint64_t link,
		     int64_t *ret_sp)
{
	int64_t to_return, to_pc;
	struct a64_insn call;
	uint64_t target;
	uint32_t insn;

	if (link < INSN_BYTES || !a64_fetch(ops, link - INSN_BYTES, &insn) ||
	    !a64_search(ops, pc, 0, &to_return))
		return false;
	call = a64_decode(insn);
	target = link - INSN_BYTES + (uint64_t)call.value;
	if (call.kind != A64_CALL_INDIRECT && call.kind != A64_CALL)
		return false;
	if (call.kind == A64_CALL && !a64_is_stub(ops, target) &&
	    (!a64_search(ops, target, pc, &to_pc) || to_pc != -to_return))
		return false;
	*ret_sp = to_return;
	return true;
}
