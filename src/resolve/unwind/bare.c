/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/bare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "resolve/unwind/arch.h"
#include "resolve/unwind/x86_insn.h"

enum {
	INSNS_MAX = 4096,  /* of one search */
	VISITED = 8192,    /* slots; a power of two, more than INSNS_MAX */
	PENDING_MAX = 128, /* branches that are followed later */
	SLOTS = 1024,      /* results that are kept; a power of two */
	CALL_BYTES = 5,    /* of a direct call */
	INDIRECT_MAX = 7,  /* longest indirect call without prefixes */
	THUNKS_MAX = 4,
	START_MAX = 512, /* bytes of a function before a call that does not return */
	FUNCTION_ALIGN = 16,
	OPCODE_RET = 0xc3,
	OPCODE_INT3 = 0xcc,
	OPCODE_NOP = 0x90,
	NO_SAVED = 0xff
};

/* The registers of i386 have the same numbers in instructions. */
static const uint8_t bare_slots[BARE_SAVED] = { 3, 6, 12, 13, 14, 15 };
static const uint8_t bare_slots_i386[BARE_SAVED] = {
	3, 5, 6, 7, UNWIND_NO_REG, UNWIND_NO_REG
};

/* The state of the stack before an instruction, relative to that at the start. */
struct bare_state {
	bool is_i386;
	struct bare_place sp, fp;
	struct bare_place saved[BARE_SAVED];
	/* A register that contains the address of code: its number plus 1; 0: none. */
	unsigned int code_reg;
	uint64_t code;
};

struct bare_pending {
	uint64_t at;
	struct bare_state state;
};

struct visited {
	uint64_t at;
	uint32_t search;
};

struct callers_slot_bare {
	uint64_t key; /* 0: unused */
	size_t nr;
	struct bare_caller callers[BARE_CALLERS];
};

struct verdict {
	uint64_t key;
	bool is_call;
};

struct unwind_bare {
	uint32_t search;
	struct visited visited[VISITED];
	struct bare_pending pending[PENDING_MAX];
	size_t nr_pending;
	struct callers_slot_bare callers[SLOTS];
	struct verdict verdicts[SLOTS];
};

int unwind_bare_new(struct unwind_bare **ret_bare)
{
	*ret_bare = calloc(1, sizeof(**ret_bare));
	return *ret_bare ? 0 : -ENOMEM;
}

void unwind_bare_free(struct unwind_bare *b)
{
	free(b);
}

/* ---- the state ---- */

uint8_t unwind_bare_slot(bool is_i386, unsigned int saved)
{
	return is_i386 ? bare_slots_i386[saved] : bare_slots[saved];
}

static unsigned int bare_word(const struct bare_state *s)
{
	return s->is_i386 ? 4 : 8;
}

static unsigned int bare_index(const struct bare_state *s, unsigned int reg)
{
	static const uint8_t of_i386[16] = { NO_SAVED, NO_SAVED, NO_SAVED, 0,
					     NO_SAVED, 1,        2,        3,
					     NO_SAVED, NO_SAVED, NO_SAVED, NO_SAVED,
					     NO_SAVED, NO_SAVED, NO_SAVED, NO_SAVED };
	static const uint8_t of[16] = { NO_SAVED, NO_SAVED, NO_SAVED, 0,
					NO_SAVED, 1,        NO_SAVED, NO_SAVED,
					NO_SAVED, NO_SAVED, NO_SAVED, NO_SAVED,
					2,        3,        4,        5 };

	return s->is_i386 ? of_i386[reg & 15] : of[reg & 15];
}

static struct bare_place bare_plus(struct bare_place p, int64_t bytes)
{
	int64_t sum = p.offset + bytes;

	if (sum < INT32_MIN || sum > INT32_MAX)
		p.base = BARE_UNKNOWN;
	p.offset = (int32_t)sum;
	return p;
}

static void bare_restore(struct bare_state *s, unsigned int reg, struct bare_place from)
{
	unsigned int i = bare_index(s, reg);

	if (i != NO_SAVED)
		s->saved[i] = from;
	if (reg == X86_RBP)
		s->fp.base = BARE_UNKNOWN;
}

static void bare_pop(struct bare_state *s, unsigned int reg)
{
	bare_restore(s, reg, s->sp);
	s->sp = bare_plus(s->sp, bare_word(s));
	if (reg == X86_RSP)
		s->sp.base = BARE_UNKNOWN;
}

static void bare_apply(struct bare_state *s, const struct x86_insn *insn)
{
	switch ((int)insn->kind) {
	case X86_PUSH:
		s->sp = bare_plus(s->sp, -(int64_t)bare_word(s));
		break;
	case X86_POP:
		bare_pop(s, insn->reg);
		break;
	case X86_ADD_SP:
		s->sp = bare_plus(s->sp, insn->value);
		break;
	case X86_SP_OF_FP:
		s->sp = bare_plus(s->fp, insn->value);
		break;
	case X86_SP_UNKNOWN:
		s->sp.base = BARE_UNKNOWN;
		break;
	case X86_FP_OF_SP:
		s->fp = bare_plus(s->sp, insn->value);
		break;
	case X86_FP_UNKNOWN:
		s->fp.base = BARE_UNKNOWN;
		break;
	case X86_LEAVE:
		s->sp = s->fp;
		bare_pop(s, X86_RBP);
		break;
	case X86_LOAD_SP:
		bare_restore(s, insn->reg, bare_plus(s->sp, insn->value));
		break;
	case X86_LOAD_FP:
		bare_restore(s, insn->reg, bare_plus(s->fp, insn->value));
		break;
	default:
		break;
	}
}

/* ---- the search ---- */

/* One search through the code. It ends when `visit` returns true. */
struct bare_search {
	struct unwind_bare *b;
	const struct unwind_bare_ops *ops;
	bool (*visit)(struct bare_search *s, uint64_t at, const struct x86_insn *insn,
		      const struct bare_state *state);
	uint8_t bytes[256]; /* code at `start` */
	uint64_t start;
	size_t len;
	size_t nr_insns;
	bool is_cut; /* some code could not be followed */
	/* goal: the address that bare_visit_goal() searches for; 0 once it was found, and then
	 * goal_sp is the stack pointer there. callers: the results of bare_visit_end(). */
	uint64_t goal;
	struct bare_place goal_sp;
	size_t nr_callers;
	struct bare_caller callers[BARE_CALLERS];
};

static struct x86_insn bare_decode(const struct unwind_bare_ops *ops,
				   const uint8_t *bytes, size_t len)
{
	return ops->is_i386 ? x86_insn_decode_i386(bytes, len)
			    : x86_insn_decode(bytes, len);
}

static bool bare_fetch(struct bare_search *s, uint64_t at, struct x86_insn *ret_insn)
{
	uint64_t offset = at - s->start;

	if (at < s->start || offset >= s->len ||
	    (s->len - offset < X86_INSN_MAX && s->len == sizeof(s->bytes))) {
		s->start = at;
		s->len = s->ops->code(s->ops->ctx, at, s->bytes, sizeof(s->bytes));
		offset = 0;
	}
	if (!s->len)
		return false;
	*ret_insn = bare_decode(s->ops, s->bytes + offset, s->len - (size_t)offset);
	return ret_insn->len != 0;
}

/* Marks an address as visited by this search. Returns false if it was already marked. */
static bool bare_enter(struct unwind_bare *b, uint64_t at)
{
	size_t i = (size_t)(hash_pair(at, 0) & (VISITED - 1));

	while (b->visited[i].search == b->search) {
		if (b->visited[i].at == at)
			return false;
		i = (i + 1) & (VISITED - 1);
	}
	b->visited[i] = (struct visited){ at, b->search };
	return true;
}

static void bare_follow_later(struct bare_search *s, uint64_t at,
			      const struct bare_state *state)
{
	struct unwind_bare *b = s->b;

	if (b->nr_pending == PENDING_MAX) {
		s->is_cut = true;
		return;
	}
	b->pending[b->nr_pending++] = (struct bare_pending){ at, *state };
}

/* Tracks which register contains the address of code: musl's start code jumps to such an
 * address. */
static void bare_track_code(struct bare_state *s, const struct x86_insn *insn,
			    uint64_t next)
{
	bool is_set = insn->kind == X86_POP || insn->kind == X86_LOAD_SP ||
		      insn->kind == X86_LOAD_FP ||
		      (insn->kind == X86_PLAIN && insn->value);

	if (insn->kind == X86_CODE_ADDRESS) {
		s->code_reg = insn->reg + 1;
		s->code = next + (uint64_t)insn->value;
	} else if (insn->kind == X86_CALL || insn->kind == X86_CALL_INDIRECT ||
		   (is_set && s->code_reg == insn->reg + 1)) {
		s->code_reg = 0;
	}
}

/* Returns whether the instruction jumps to an address that is known, and sets *at to it. */
static bool bare_jump(const struct bare_state *s, const struct x86_insn *insn,
		      uint64_t *at)
{
	if (insn->kind == X86_JUMP)
		*at += (uint64_t)insn->value;
	else if (insn->value && s->code_reg == insn->reg + 1)
		*at = s->code;
	else
		return false;
	return true;
}

/* Follows code until it ends or was visited. Returns true if the search is over. */
static bool bare_follow(struct bare_search *s, uint64_t at, struct bare_state *state)
{
	struct x86_insn insn;

	while (bare_enter(s->b, at)) {
		if (s->nr_insns++ >= INSNS_MAX || !bare_fetch(s, at, &insn)) {
			s->is_cut = true;
			return false;
		}
		if (s->visit(s, at, &insn, state))
			return true;
		bare_apply(state, &insn);
		at += insn.len;
		bare_track_code(state, &insn, at);
		switch ((int)insn.kind) {
		case X86_BRANCH:
			bare_follow_later(s, at + (uint64_t)insn.value, state);
			break;
		case X86_JUMP:
		case X86_JUMP_INDIRECT:
			if (bare_jump(state, &insn, &at))
				break;
			s->is_cut = true;
			return false;
		case X86_JUMP_SLOT:
			s->is_cut = true;
			return false;
		case X86_RETURN:
		case X86_STOP:
			return false;
		default:
			break;
		}
	}
	return false;
}

static void bare_run(struct bare_search *s, uint64_t at)
{
	struct unwind_bare *b = s->b;
	struct bare_pending next = { .at = at,
				     .state = { .is_i386 = s->ops->is_i386,
						.sp = { BARE_SP, 0 },
						.fp = { BARE_FP, 0 } } };

	if (!++b->search) {
		memset(b->visited, 0, sizeof(b->visited));
		b->search = 1;
	}
	b->nr_pending = 0;
	while (!bare_follow(s, next.at, &next.state) && b->nr_pending)
		next = b->pending[--b->nr_pending];
}

/* ---- from the program counter to a return ---- */

static bool bare_same_place(struct bare_place a, struct bare_place b)
{
	return a.base == b.base && a.offset == b.offset;
}

/* Adds a candidate for the caller if the instruction ends the function. Returns true, which ends
 * the search, if there is no room for more candidates. */
static bool bare_visit_end(struct bare_search *s, uint64_t at,
			   const struct x86_insn *insn, const struct bare_state *state)
{
	struct bare_caller *c = &s->callers[s->nr_callers];

	(void)at;
	/* The jump through a variable is a call in tail position. */
	if ((insn->kind != X86_RETURN && insn->kind != X86_JUMP_SLOT) ||
	    state->sp.base == BARE_UNKNOWN)
		return false;
	/* Below the stack pointer at the start of the search, there are only words that the code
	 * after it has pushed, and no return address. */
	if (state->sp.base == BARE_SP && state->sp.offset < 0)
		return false;
	for (size_t i = 0; i < s->nr_callers; i++)
		if (bare_same_place(s->callers[i].return_address, state->sp))
			return false;
	c->return_address = state->sp;
	c->popped = insn->kind == X86_RETURN ? (uint32_t)insn->value : 0;
	memcpy(c->saved, state->saved, sizeof(c->saved));
	return ++s->nr_callers == BARE_CALLERS;
}

size_t unwind_bare_callers(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			   uint64_t space, uint64_t pc, const struct bare_caller **ret)
{
	uint64_t key = hash_pair(pc, space) | 1;
	struct callers_slot_bare *slot = &b->callers[(key >> 1) & (SLOTS - 1)];
	struct bare_search s = { .b = b, .ops = ops, .visit = bare_visit_end };

	if (slot->key != key) {
		bare_run(&s, pc);
		slot->key = key;
		slot->nr = s.nr_callers;
		memcpy(slot->callers, s.callers, sizeof(s.callers));
	}
	*ret = slot->callers;
	return slot->nr;
}

/* ---- from the call to the program counter ---- */

static bool bare_visit_goal(struct bare_search *s, uint64_t at,
			    const struct x86_insn *insn, const struct bare_state *state)
{
	(void)insn;
	if (at != s->goal)
		return false;
	s->goal_sp = state->sp;
	s->goal = 0;
	return true;
}

/* Returns whether the code at a call's target can lead to `pc`, where the return address is
 * `depth` bytes above the stack pointer (-1: unknown). Also returns true if `pc` was not found
 * after the target, but not all code could be followed. */
static bool bare_leads_to(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			  uint64_t target, uint64_t pc, int64_t depth)
{
	struct bare_search s = {
		.b = b, .ops = ops, .visit = bare_visit_goal, .goal = pc
	};

	bare_run(&s, target);
	if (s.goal)
		/* Jumps through tables hide parts of a function. */
		return s.is_cut && target <= pc;
	return depth < 0 || s.goal_sp.base != BARE_SP || s.goal_sp.offset == -depth;
}

/* Returns whether the code jumps to an address that the linker or the loader chooses: a PLT
 * entry. Follows direct jumps. */
static bool bare_is_stub(const struct unwind_bare_ops *ops, uint64_t at)
{
	uint8_t bytes[4 * X86_INSN_MAX];

	for (int i = 0; i < THUNKS_MAX; i++) {
		size_t len = ops->code(ops->ctx, at, bytes, sizeof(bytes));
		struct x86_insn insn = bare_decode(ops, bytes, len);
		size_t skip = insn.len;

		/* endbr64, endbr32 */
		if (skip == 4 && (!memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) ||
				  !memcmp(bytes, "\xf3\x0f\x1e\xfb", 4))) {
			insn = bare_decode(ops, bytes + skip, len - skip);
			at += skip;
		}
		if (insn.kind == X86_JUMP_SLOT)
			return true;
		if (insn.kind != X86_JUMP)
			return false;
		at += insn.len + (uint64_t)insn.value;
	}
	return false;
}

static bool bare_is_indirect(const struct unwind_bare_ops *ops, const uint8_t *end,
			     size_t len)
{
	for (size_t bytes = 2; bytes <= INDIRECT_MAX && bytes <= len; bytes++) {
		struct x86_insn insn = bare_decode(ops, end - bytes, bytes);

		if (insn.kind == X86_CALL_INDIRECT && insn.len == bytes)
			return true;
	}
	return false;
}

/* Returns whether the code from `start` leads to `pc` so that the stack pointer is `depth` bytes
 * lower there. *ret_cut: some code could not be followed. */
static bool bare_reaches(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			 uint64_t start, uint64_t pc, int64_t depth, bool *ret_cut)
{
	struct bare_search s = {
		.b = b, .ops = ops, .visit = bare_visit_goal, .goal = pc
	};

	bare_run(&s, start);
	*ret_cut = s.is_cut;
	return !s.goal && s.goal_sp.base == BARE_SP && s.goal_sp.offset == -depth;
}

/* Returns whether a function can begin at bytes[at]: after a return or padding, or aligned. */
static bool bare_can_begin(const uint8_t *bytes, size_t at, uint64_t address)
{
	return address % FUNCTION_ALIGN == 0 || bytes[at - 1] == OPCODE_RET ||
	       bytes[at - 1] == OPCODE_INT3 || bytes[at - 1] == OPCODE_NOP;
}

/* Returns whether a function that begins before `pc` leads there with this depth. */
static bool bare_has_start(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			   uint64_t pc, int64_t depth)
{
	uint8_t bytes[START_MAX];
	uint64_t from = pc > START_MAX ? pc - START_MAX : 0;
	size_t len = ops->code(ops->ctx, from, bytes, sizeof(bytes));
	bool is_cut;

	if (len != sizeof(bytes))
		return false;
	for (size_t at = sizeof(bytes) - 1; at > 0; at--)
		if (bare_can_begin(bytes, at, from + at) &&
		    bare_reaches(b, ops, from + at, pc, depth, &is_cut))
			return true;
	return false;
}

static bool bare_check_entry(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			     uint64_t pc, uint64_t address, int64_t depth)
{
	uint8_t call[CALL_BYTES];
	struct x86_insn insn;
	bool is_cut;

	if (address < CALL_BYTES ||
	    ops->code(ops->ctx, address - CALL_BYTES, call, CALL_BYTES) != CALL_BYTES)
		return false;
	insn = bare_decode(ops, call, CALL_BYTES);
	if (insn.kind != X86_CALL)
		return false;
	if (bare_reaches(b, ops, address + (uint64_t)insn.value, pc, depth, &is_cut))
		return true;
	/* The call leads into another library, as from a program to musl. */
	return is_cut && bare_has_start(b, ops, pc, depth);
}

bool unwind_bare_is_entered(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			    uint64_t space, uint64_t pc, uint64_t address,
			    int64_t depth)
{
	uint64_t key =
		hash_pair(hash_pair(pc, address), hash_pair(space, ~(uint64_t)depth)) |
		1;
	struct verdict *v = &b->verdicts[(key >> 1) & (SLOTS - 1)];

	if (v->key != key)
		*v = (struct verdict){ key,
				       bare_check_entry(b, ops, pc, address, depth) };
	return v->is_call;
}

static bool bare_check(struct unwind_bare *b, const struct unwind_bare_ops *ops,
		       uint64_t pc, const struct bare_caller *way, uint64_t address)
{
	int64_t depth =
		way->return_address.base == BARE_SP ? way->return_address.offset : -1;
	uint8_t before[INDIRECT_MAX];
	struct x86_insn insn;
	uint64_t target;

	if (address < INDIRECT_MAX ||
	    ops->code(ops->ctx, address - INDIRECT_MAX, before, sizeof(before)) !=
		    sizeof(before))
		return false;
	insn = bare_decode(ops, before + INDIRECT_MAX - CALL_BYTES, CALL_BYTES);
	target = address + (uint64_t)insn.value;
	if (insn.kind == X86_CALL && insn.len == CALL_BYTES &&
	    (bare_is_stub(ops, target) || bare_leads_to(b, ops, target, pc, depth)))
		return true;
	return bare_is_indirect(ops, before + INDIRECT_MAX, INDIRECT_MAX);
}

bool unwind_bare_is_call(struct unwind_bare *b, const struct unwind_bare_ops *ops,
			 uint64_t space, uint64_t pc, const struct bare_caller *way,
			 uint64_t address)
{
	uint64_t key =
		hash_pair(hash_pair(pc, address),
			  hash_pair(space,
				    (uint64_t)way->return_address.base << 32 |
					    (uint32_t)way->return_address.offset)) |
		1;
	struct verdict *v = &b->verdicts[(key >> 1) & (SLOTS - 1)];

	if (v->key != key)
		*v = (struct verdict){ key, bare_check(b, ops, pc, way, address) };
	return v->is_call;
}
