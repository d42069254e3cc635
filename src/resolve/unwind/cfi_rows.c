/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/cfi_rows.h"

#include <errno.h>
#include <string.h>

#include "resolve/dwarf/leb.h"

/* DW_CFA_...: the first three are encoded in the two highest bits. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_HIGH = 0xc0,
	CFA_LOW = 0x3f,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_GNU_WINDOW_SAVE =
		0x2d, /* AArch64: toggles whether the return address is signed */
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f
};

enum {
	REMEMBERED_MAX = 8
};

struct cfi_rows_run {
	const struct unwind_arch *arch;
	const struct cfi_walk *walk;
	const struct cfi_cie *cie;
	struct cursor c;
	uint64_t at; /* code address */
	struct cfi_state state;
	struct cfi_state initial;
	struct cfi_state remembered[REMEMBERED_MAX];
	unsigned int nr_remembered;
	bool failed;
	cfi_row_fn fn;
	void *ctx;
};

static int32_t cfi_rows_narrow(struct cfi_rows_run *r, int64_t v)
{
	if (v < INT32_MIN || v > INT32_MAX)
		r->failed = true;
	return (int32_t)v;
}

static int32_t factored(struct cfi_rows_run *r, uint64_t v)
{
	int64_t product;

	if (__builtin_mul_overflow((int64_t)v, r->cie->data_align, &product))
		r->failed = true;
	return cfi_rows_narrow(r, product);
}

static void cfi_rows_set(struct cfi_rows_run *r, uint64_t dwarf_register, uint8_t how,
			 int32_t value)
{
	unsigned int slot = unwind_arch_slot(r->arch, dwarf_register);

	if (slot != UNWIND_NO_REG)
		r->state.registers[slot] =
			(struct cfi_register){ .how = how, .value = value };
}

static void set_register(struct cfi_rows_run *r, uint64_t dwarf_register, uint64_t from)
{
	unsigned int slot = unwind_arch_slot(r->arch, from);

	if (slot == UNWIND_NO_REG)
		cfi_rows_set(r, dwarf_register, UNWIND_UNDEFINED, 0);
	else
		cfi_rows_set(r, dwarf_register, UNWIND_REGISTER, (int32_t)slot);
}

/* Skips an expression, and returns its offset in the section. */
static int32_t take_code(struct cfi_rows_run *r, uint16_t *ret_len)
{
	uint64_t len = leb_u(&r->c);
	size_t at = r->c.pos;

	*ret_len = (uint16_t)len;
	if (len > UINT16_MAX || !cursor_take(&r->c, (size_t)len))
		r->failed = true;
	return cfi_rows_narrow(r, (int64_t)at);
}

static void set_code(struct cfi_rows_run *r, uint64_t dwarf_register, uint8_t how)
{
	unsigned int slot = unwind_arch_slot(r->arch, dwarf_register);
	struct cfi_register reg = { .how = how };

	reg.value = take_code(r, &reg.code_len);
	if (slot != UNWIND_NO_REG)
		r->state.registers[slot] = reg;
}

static void restore(struct cfi_rows_run *r, uint64_t dwarf_register)
{
	unsigned int slot = unwind_arch_slot(r->arch, dwarf_register);

	if (slot != UNWIND_NO_REG)
		r->state.registers[slot] = r->initial.registers[slot];
}

static void set_base(struct cfi_rows_run *r, uint64_t dwarf_register, int32_t offset)
{
	unsigned int slot = unwind_arch_slot(r->arch, dwarf_register);

	r->state.base = slot == UNWIND_NO_REG ? UNWIND_NONE : UNWIND_BASE_REG;
	r->state.reg = (uint8_t)slot;
	r->state.offset = offset;
	r->state.code_len = 0;
}

static void set_base_code(struct cfi_rows_run *r)
{
	r->state.base = UNWIND_BASE_CODE;
	r->state.reg = 0;
	r->state.offset = take_code(r, &r->state.code_len);
}

static int cfi_rows_emit(struct cfi_rows_run *r)
{
	return r->fn ? r->fn(r->ctx, r->at, &r->state) : 0;
}

static int cfi_rows_advance(struct cfi_rows_run *r, uint64_t delta)
{
	int e = cfi_rows_emit(r);

	if (__builtin_mul_overflow(delta, r->cie->code_align, &delta) ||
	    __builtin_add_overflow(r->at, delta, &r->at))
		r->failed = true;
	return e;
}

static int set_loc(struct cfi_rows_run *r)
{
	int e = cfi_rows_emit(r);
	uint64_t to = r->walk->debug_frame
			      ? leb_word(&r->c, r->cie->address_bytes)
			      : cfi_pointer(&r->c, r->walk->vaddr, r->cie->encoding,
					    r->walk->is64);

	if (to < r->at)
		r->failed = true;
	r->at = to;
	return e;
}

static void cfi_rows_remember(struct cfi_rows_run *r)
{
	if (r->nr_remembered < REMEMBERED_MAX)
		r->remembered[r->nr_remembered++] = r->state;
	else
		r->failed = true;
}

static void recall(struct cfi_rows_run *r)
{
	if (r->nr_remembered)
		r->state = r->remembered[--r->nr_remembered];
	else
		r->failed = true;
}

/* Fails if the CFA is an expression: changing only the register or only the offset requires that it
 * has both. */
static void check_base(struct cfi_rows_run *r)
{
	r->failed |= r->state.base == UNWIND_BASE_CODE;
}

/* Runs an operation that changes the CFA. Returns whether `op` is one. */
static bool step_base(struct cfi_rows_run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = leb_u(&r->c);
		set_base(r, reg, cfi_rows_narrow(r, (int64_t)leb_u(&r->c)));
		return true;
	case CFA_DEF_CFA_SF:
		reg = leb_u(&r->c);
		set_base(r, reg, factored(r, (uint64_t)leb_s(&r->c)));
		return true;
	case CFA_DEF_CFA_REGISTER:
		check_base(r);
		set_base(r, leb_u(&r->c), r->state.offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		check_base(r);
		r->state.offset = cfi_rows_narrow(r, (int64_t)leb_u(&r->c));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		check_base(r);
		r->state.offset = factored(r, (uint64_t)leb_s(&r->c));
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_base_code(r);
		return true;
	default:
		return false;
	}
}

/* Runs an operation that changes the rule of a single register. Returns whether `op` is one. */
static bool step_register(struct cfi_rows_run *r, uint8_t op)
{
	uint64_t reg;

	if (op < CFA_OFFSET_EXTENDED || op == CFA_REMEMBER_STATE ||
	    op == CFA_RESTORE_STATE || op == CFA_GNU_ARGS_SIZE)
		return false;
	reg = leb_u(&r->c);
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		cfi_rows_set(r, reg, UNWIND_AT_CFA, factored(r, leb_u(&r->c)));
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		cfi_rows_set(r, reg, UNWIND_AT_CFA,
			     factored(r, (uint64_t)leb_s(&r->c)));
		return true;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		cfi_rows_set(r, reg, UNWIND_AT_CFA,
			     cfi_rows_narrow(r, -(int64_t)factored(r, leb_u(&r->c))));
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(r, reg);
		return true;
	case CFA_UNDEFINED:
		cfi_rows_set(r, reg, UNWIND_UNDEFINED, 0);
		return true;
	case CFA_SAME_VALUE:
		cfi_rows_set(r, reg, CFI_SAME, 0);
		return true;
	case CFA_REGISTER:
		set_register(r, reg, leb_u(&r->c));
		return true;
	case CFA_VAL_OFFSET:
		cfi_rows_set(r, reg, UNWIND_CFA_PLUS, factored(r, leb_u(&r->c)));
		return true;
	case CFA_VAL_OFFSET_SF:
		cfi_rows_set(r, reg, UNWIND_CFA_PLUS,
			     factored(r, (uint64_t)leb_s(&r->c)));
		return true;
	case CFA_EXPRESSION:
		set_code(r, reg, UNWIND_EXPRESSION);
		return true;
	case CFA_VAL_EXPRESSION:
		set_code(r, reg, UNWIND_VALUE);
		return true;
	default:
		return false;
	}
}

/* Runs an operation whose first byte contains no operand. Returns 0 or the result of the row
 * function. */
static int step_low(struct cfi_rows_run *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_GNU_WINDOW_SAVE: /* signatures are always removed */
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		return 0;
	case CFA_SET_LOC:
		return set_loc(r);
	case CFA_ADVANCE_LOC1:
		return cfi_rows_advance(r, cursor_u8(&r->c));
	case CFA_ADVANCE_LOC2:
		return cfi_rows_advance(r, cursor_u16(&r->c));
	case CFA_ADVANCE_LOC4:
		return cfi_rows_advance(r, cursor_u32(&r->c));
	case CFA_MIPS_ADVANCE_LOC8:
		return cfi_rows_advance(r, cursor_u64(&r->c));
	case CFA_REMEMBER_STATE:
		cfi_rows_remember(r);
		return 0;
	case CFA_RESTORE_STATE:
		recall(r);
		return 0;
	case CFA_GNU_ARGS_SIZE:
		leb_u(&r->c);
		return 0;
	default:
		if (!step_base(r, op) && !step_register(r, op))
			r->failed = true;
		return 0;
	}
}

static int cfi_rows_step(struct cfi_rows_run *r)
{
	uint8_t op = cursor_u8(&r->c);

	switch (op & CFA_HIGH) {
	case CFA_ADVANCE_LOC:
		return cfi_rows_advance(r, op & CFA_LOW);
	case CFA_OFFSET:
		cfi_rows_set(r, op & CFA_LOW, UNWIND_AT_CFA, factored(r, leb_u(&r->c)));
		return 0;
	case CFA_RESTORE:
		restore(r, op & CFA_LOW);
		return 0;
	default:
		return step_low(r, op);
	}
}

static int run_program(struct cfi_rows_run *r, const uint8_t *program, size_t len)
{
	int e = 0;

	/* Positions are relative to the whole section, because set_loc can be relative to them. */
	r->c = cursor_of(r->walk->bytes, (size_t)(program - r->walk->bytes) + len,
			 r->walk->swap);
	r->c.pos = (size_t)(program - r->walk->bytes);
	while (!e && cursor_left(&r->c) && !r->failed) {
		e = cfi_rows_step(r);
		r->failed |= r->c.failed;
	}
	return e ? e : r->failed ? -EBADMSG : 0;
}

int cfi_run(const struct unwind_arch *arch, const struct cfi_walk *walk,
	    const struct cfi_fde *fde, cfi_row_fn fn, void *ctx)
{
	struct cfi_rows_run r;
	int e;

	/* Do not clear `remembered`: this function runs for each FDE, and clearing it is slow. */
	r.arch = arch;
	r.walk = walk;
	r.cie = &walk->cie;
	r.at = fde->start;
	r.nr_remembered = 0;
	r.failed = false;
	r.fn = NULL;
	r.ctx = ctx;
	r.state = (struct cfi_state){ .base = UNWIND_NONE };
	for (unsigned int i = 0; i < arch->nr; i++)
		r.state.registers[i].how = CFI_SAME;
	r.initial = r.state;
	e = run_program(&r, walk->cie.program, walk->cie.program_len);
	if (e)
		return e;
	r.initial = r.state;
	r.fn = fn;
	e = run_program(&r, fde->program, fde->program_len);
	return e ? e : fn(ctx, r.at, &r.state);
}
