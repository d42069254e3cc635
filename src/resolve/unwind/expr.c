/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/expr.h"

#include <errno.h>

#include "resolve/dwarf/leb.h"
#include "resolve/unwind/arch.h"

/* DW_OP_... */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96
};

enum {
	STACK_MAX = 32,
	STEPS_MAX = 1000 /* limits loops by backward branches */
};

struct unwind_expr_machine {
	const struct unwind_expr_env *env;
	struct cursor c;
	uint64_t stack[STACK_MAX];
	unsigned int nr;
	int error;
};

static void unwind_expr_fail(struct unwind_expr_machine *m, int error)
{
	if (!m->error)
		m->error = error;
}

static void unwind_expr_push(struct unwind_expr_machine *m, uint64_t v)
{
	if (m->nr < STACK_MAX)
		m->stack[m->nr++] = v;
	else
		unwind_expr_fail(m, -EBADMSG);
}

static uint64_t unwind_expr_pop(struct unwind_expr_machine *m)
{
	if (m->nr)
		return m->stack[--m->nr];
	unwind_expr_fail(m, -EBADMSG);
	return 0;
}

/* Returns the n-th value from the top. */
static uint64_t unwind_expr_peek(struct unwind_expr_machine *m, unsigned int n)
{
	if (n < m->nr)
		return m->stack[m->nr - 1 - n];
	unwind_expr_fail(m, -EBADMSG);
	return 0;
}

static void push_register(struct unwind_expr_machine *m, uint64_t dwarf_register)
{
	unsigned int slot = unwind_arch_slot(m->env->arch, dwarf_register);
	uint64_t offset = (uint64_t)leb_s(&m->c);

	if (slot == UNWIND_NO_REG || !(m->env->known >> slot & 1))
		unwind_expr_fail(m, -ENODATA);
	else
		unwind_expr_push(m, m->env->registers[slot] + offset);
}

static void deref(struct unwind_expr_machine *m, unsigned int bytes)
{
	uint64_t at = unwind_expr_pop(m);
	uint64_t v = 0;

	if (bytes < 1 || bytes > 8)
		unwind_expr_fail(m, -EBADMSG);
	else if (!m->error && !m->env->read(m->env->ctx, at, bytes, &v))
		unwind_expr_fail(m, -ENODATA);
	unwind_expr_push(m, v);
}

static void branch(struct unwind_expr_machine *m, bool taken)
{
	int16_t distance = (int16_t)cursor_u16(&m->c);
	int64_t to = (int64_t)m->c.pos + distance;

	if (!taken)
		return;
	if (to < 0 || to > (int64_t)m->c.len)
		unwind_expr_fail(m, -EBADMSG);
	else
		m->c.pos = (size_t)to;
}

/* Runs a constant operation. Returns whether `op` is one. */
static bool step_constant(struct unwind_expr_machine *m, uint8_t op)
{
	struct cursor *c = &m->c;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		unwind_expr_push(m, op - OP_LIT0);
		return true;
	}
	switch (op) {
	case OP_ADDR:
		unwind_expr_push(m, m->env->arch->is64 ? cursor_u64(c) : cursor_u32(c));
		return true;
	case OP_CONST1U:
		unwind_expr_push(m, cursor_u8(c));
		return true;
	case OP_CONST1S:
		unwind_expr_push(m, (uint64_t)(int8_t)cursor_u8(c));
		return true;
	case OP_CONST2U:
		unwind_expr_push(m, cursor_u16(c));
		return true;
	case OP_CONST2S:
		unwind_expr_push(m, (uint64_t)(int16_t)cursor_u16(c));
		return true;
	case OP_CONST4U:
		unwind_expr_push(m, cursor_u32(c));
		return true;
	case OP_CONST4S:
		unwind_expr_push(m, (uint64_t)(int32_t)cursor_u32(c));
		return true;
	case OP_CONST8U:
	case OP_CONST8S:
		unwind_expr_push(m, cursor_u64(c));
		return true;
	case OP_CONSTU:
		unwind_expr_push(m, leb_u(c));
		return true;
	case OP_CONSTS:
		unwind_expr_push(m, (uint64_t)leb_s(c));
		return true;
	default:
		return false;
	}
}

/* Runs an operation that moves values on the stack, or changes the one on top. Returns whether
 * `op` is one. */
static bool step_stack(struct unwind_expr_machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP:
		unwind_expr_push(m, unwind_expr_peek(m, 0));
		return true;
	case OP_DROP:
		unwind_expr_pop(m);
		return true;
	case OP_OVER:
		unwind_expr_push(m, unwind_expr_peek(m, 1));
		return true;
	case OP_PICK:
		unwind_expr_push(m, unwind_expr_peek(m, cursor_u8(&m->c)));
		return true;
	case OP_SWAP:
		a = unwind_expr_pop(m);
		b = unwind_expr_pop(m);
		unwind_expr_push(m, a);
		unwind_expr_push(m, b);
		return true;
	case OP_ROT:
		a = unwind_expr_pop(m);
		b = unwind_expr_pop(m);
		c = unwind_expr_pop(m);
		unwind_expr_push(m, a);
		unwind_expr_push(m, c);
		unwind_expr_push(m, b);
		return true;
	case OP_ABS:
		a = unwind_expr_pop(m);
		unwind_expr_push(m, (int64_t)a < 0 ? 0 - a : a);
		return true;
	case OP_NEG:
		unwind_expr_push(m, 0 - unwind_expr_pop(m));
		return true;
	case OP_NOT:
		unwind_expr_push(m, ~unwind_expr_pop(m));
		return true;
	case OP_PLUS_UCONST:
		a = unwind_expr_pop(m);
		unwind_expr_push(m, a + leb_u(&m->c));
		return true;
	default:
		return false;
	}
}

static uint64_t unwind_expr_divide(struct unwind_expr_machine *m, int64_t a, int64_t b)
{
	if (!b)
		unwind_expr_fail(m, -EBADMSG);
	return !b ? 0 : b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t shift_arithmetic(uint64_t a, uint64_t by)
{
	uint64_t sign = (int64_t)a < 0 ? UINT64_MAX : 0;

	if (by > 63)
		return sign;
	return by ? a >> by | sign << (64 - by) : a;
}

/* Runs an operation on two values (`b` is on top). Returns whether `op` is one. */
static bool step_two(struct unwind_expr_machine *m, uint8_t op)
{
	uint64_t b, a;
	bool is_one = (op >= OP_AND && op <= OP_MUL) || op == OP_OR || op == OP_PLUS ||
		      (op >= OP_SHL && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);

	if (!is_one)
		return false;
	b = unwind_expr_pop(m);
	a = unwind_expr_pop(m);
	switch (op) {
	case OP_AND:
		unwind_expr_push(m, a & b);
		break;
	case OP_DIV:
		unwind_expr_push(m, unwind_expr_divide(m, (int64_t)a, (int64_t)b));
		break;
	case OP_MINUS:
		unwind_expr_push(m, a - b);
		break;
	case OP_MOD:
		if (!b)
			unwind_expr_fail(m, -EBADMSG);
		unwind_expr_push(m, b ? a % b : 0);
		break;
	case OP_MUL:
		unwind_expr_push(m, a * b);
		break;
	case OP_OR:
		unwind_expr_push(m, a | b);
		break;
	case OP_PLUS:
		unwind_expr_push(m, a + b);
		break;
	case OP_SHL:
		unwind_expr_push(m, b < 64 ? a << b : 0);
		break;
	case OP_SHR:
		unwind_expr_push(m, b < 64 ? a >> b : 0);
		break;
	case OP_SHRA:
		unwind_expr_push(m, shift_arithmetic(a, b));
		break;
	case OP_XOR:
		unwind_expr_push(m, a ^ b);
		break;
	case OP_EQ:
		unwind_expr_push(m, a == b);
		break;
	case OP_GE:
		unwind_expr_push(m, (int64_t)a >= (int64_t)b);
		break;
	case OP_GT:
		unwind_expr_push(m, (int64_t)a > (int64_t)b);
		break;
	case OP_LE:
		unwind_expr_push(m, (int64_t)a <= (int64_t)b);
		break;
	case OP_LT:
		unwind_expr_push(m, (int64_t)a < (int64_t)b);
		break;
	default: /* OP_NE */
		unwind_expr_push(m, a != b);
		break;
	}
	return true;
}

static void unwind_expr_step(struct unwind_expr_machine *m)
{
	uint8_t op = cursor_u8(&m->c);

	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(m, op - OP_BREG0);
		return;
	}
	if (step_constant(m, op) || step_stack(m, op) || step_two(m, op))
		return;
	switch (op) {
	case OP_BREGX:
		push_register(m, leb_u(&m->c));
		break;
	case OP_DEREF:
		deref(m, m->env->arch->is64 ? 8 : 4);
		break;
	case OP_DEREF_SIZE:
		deref(m, cursor_u8(&m->c));
		break;
	case OP_BRA:
		branch(m, unwind_expr_pop(m) != 0);
		break;
	case OP_SKIP:
		branch(m, true);
		break;
	case OP_NOP:
		break;
	default:
		unwind_expr_fail(m, -EBADMSG);
		break;
	}
}

static bool unwind_expr_has_step(const struct unwind_expr_env *env)
{
	if (!env->steps_left)
		return true;
	if (!*env->steps_left)
		return false;
	--*env->steps_left;
	return true;
}

int unwind_expr(const uint8_t *code, size_t len, const struct unwind_expr_env *env,
		bool has_first, uint64_t first, uint64_t *ret_value)
{
	struct unwind_expr_machine m = { .env = env,
					 .c = cursor_of(code, len, env->swap) };

	if (has_first)
		unwind_expr_push(&m, first);
	for (unsigned int i = 0; cursor_left(&m.c) && !m.error; i++) {
		unwind_expr_step(&m);
		if (m.c.failed || i >= STEPS_MAX || !unwind_expr_has_step(env))
			unwind_expr_fail(&m, -EBADMSG);
	}
	*ret_value = unwind_expr_pop(&m);
	return m.error;
}
