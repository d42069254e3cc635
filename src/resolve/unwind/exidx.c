/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/exidx.h"

#include "base/cursor.h"
#include "resolve/dwarf/leb.h"
#include "resolve/unwind/cfi_rows.h"

enum {
	ENTRY_BYTES = 8,
	LAST_BYTES = 0x1000, /* length of the last entry */
	FIRST_BYTES = 0x40,  /* length of _start */
	CANNOT_UNWIND = 1,
	SP = 13,
	LINK = 14,
	PC = 15,
	REGISTERS = 16,
	WORD = 4,
	OP_FINISH = 0xb0,
	STEPS_MAX = 1024
};

/* The instructions: bytes of words, starting with the highest byte. */
struct exidx_code {
	struct cursor c;
	uint32_t word;
	unsigned int left; /* unread bytes of the word */
	unsigned int words;
};

/* Simulates the instructions: `at` is moved up from a register's value, and the registers that
 * were saved there are recorded. */
struct exidx_run {
	struct exidx_code code;
	uint8_t base;
	int32_t at; /* relative to the base register's value */
	int32_t saved[REGISTERS];
	uint32_t has;
	bool failed;
};

static uint64_t place_31(uint64_t vaddr, uint32_t word)
{
	return (uint32_t)(vaddr + (uint64_t)(int64_t)((int32_t)(word << 1) >> 1));
}

static struct cursor cursor_at(const struct exidx *x, const struct exidx_section *s,
			       uint64_t vaddr)
{
	struct cursor c = cursor_of(s->bytes, s->len, x->swap);

	if (s->bytes && vaddr >= s->vaddr && vaddr - s->vaddr <= s->len)
		c.pos = (size_t)(vaddr - s->vaddr);
	else
		c.failed = true;
	return c;
}

static uint32_t word_of(const struct exidx *x, size_t i, unsigned int which)
{
	uint64_t at = (uint64_t)i * ENTRY_BYTES + (uint64_t)which * WORD;
	struct cursor c = cursor_at(x, &x->index, x->index.vaddr + at);

	return cursor_u32(&c);
}

static uint64_t exidx_start_of(const struct exidx *x, size_t i)
{
	/* The Thumb bit is not part of the address. */
	return place_31(x->index.vaddr + i * ENTRY_BYTES, word_of(x, i, 0)) & ~1ULL;
}

size_t exidx_nr(const struct exidx *x)
{
	return x->index.bytes ? x->index.len / ENTRY_BYTES : 0;
}

/* Returns whether the i-th entry is the program's entry point, which has no unwind information
 * and needs none. */
static bool exidx_is_first(const struct exidx *x, size_t i)
{
	return x->entry && word_of(x, i, 1) == CANNOT_UNWIND &&
	       exidx_start_of(x, i) == (x->entry & ~1ULL);
}

bool exidx_function(const struct exidx *x, size_t i, uint64_t *ret_start,
		    uint64_t *ret_bytes)
{
	uint64_t start = exidx_start_of(x, i);
	uint64_t end = start + LAST_BYTES;

	if (i + 1 < exidx_nr(x))
		end = exidx_start_of(x, i + 1);
	/* The entry of _start ends where the next one begins, so it would also cover code
	 * without an entry: limit its length. */
	if (exidx_is_first(x, i) && end > start + FIRST_BYTES)
		end = start + FIRST_BYTES;
	*ret_start = start;
	*ret_bytes = end - start;
	return end > start;
}

static uint8_t exidx_take(struct exidx_code *code)
{
	if (!code->left) {
		if (!code->words)
			return OP_FINISH;
		code->words--;
		code->word = cursor_u32(&code->c);
		code->left = WORD;
	}
	code->left--;
	return (uint8_t)(code->word >> (8 * code->left));
}

/* Finds the instructions of an entry. Returns false if there are none in a known format. */
static bool exidx_find_code(const struct exidx *x, size_t i, struct exidx_code *ret)
{
	uint64_t vaddr = x->index.vaddr + i * ENTRY_BYTES + WORD;
	uint32_t word = word_of(x, i, 1);

	*ret = (struct exidx_code){ .word = word, .left = 3 };
	if (word == CANNOT_UNWIND)
		return false;
	if (word >> 31)
		return word >> 24 == 0x80;
	ret->c = cursor_at(x, &x->extra, place_31(vaddr, word));
	word = cursor_u32(&ret->c);
	if (!(word >> 31)) {
		/* The entry refers to the personality routine of a language. The next word has
		 * the same form for all languages. */
		word = cursor_u32(&ret->c);
		ret->words = word >> 24;
	} else if (word >> 24 == 0x81 || word >> 24 == 0x82) {
		ret->words = word >> 16 & 0xff;
		ret->left = 2;
	} else if (word >> 24 != 0x80) {
		return false;
	}
	ret->word = word;
	return !ret->c.failed;
}

static void move(struct exidx_run *r, uint64_t by)
{
	if (by > INT32_MAX || __builtin_add_overflow(r->at, (int32_t)by, &r->at))
		r->failed = true;
}

static void exidx_pop(struct exidx_run *r, uint32_t registers)
{
	for (unsigned int i = 0; i < REGISTERS; i++) {
		if (!(registers >> i & 1))
			continue;
		r->saved[i] = r->at;
		r->has |= 1U << i;
		move(r, WORD);
	}
}

/* Makes locations relative to a register from now on; fails if any register was already found
 * relative to another one. */
static void use_base(struct exidx_run *r, uint8_t reg)
{
	if (r->has || reg == SP || reg == PC)
		r->failed = true;
	r->base = reg;
	r->at = 0;
}

static void step_large(struct exidx_run *r)
{
	uint64_t v = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = exidx_take(&r->code);
		v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && shift < 32);
	move(r, 0x204 + (v << 2));
}

/* Runs 0xb0 to 0xff: few general registers; for all others, only their sizes matter. */
static void step_rest(struct exidx_run *r, uint8_t op)
{
	uint8_t next;

	if (op == 0xb1) {
		next = exidx_take(&r->code);
		r->failed |= !next || next > 15;
		exidx_pop(r, next);
	} else if (op == 0xb2) {
		step_large(r);
	} else if (op == 0xb3) { /* FSTMFDX stores an additional word */
		move(r, ((exidx_take(&r->code) & 15) + 1) * 8 + 4);
	} else if (op == 0xb4) { /* the return address authentication code */
		move(r, WORD);
	} else if (op == 0xb5) {
		/* How the return address is signed. */
	} else if (op >= 0xb8 && op <= 0xbf) {
		move(r, ((op & 7) + 1) * 8 + 4);
	} else if ((op >= 0xc0 && op <= 0xc5) || (op >= 0xd0 && op <= 0xd7)) {
		move(r, ((op & 7) + 1) * 8);
	} else if (op == 0xc7) {
		next = exidx_take(&r->code);
		r->failed |= !next || next > 15;
		move(r, (uint64_t)__builtin_popcount(next) * WORD);
	} else if (op == 0xc6 || op == 0xc8 || op == 0xc9) {
		move(r, ((exidx_take(&r->code) & 15) + 1) * 8);
	} else {
		r->failed = true;
	}
}

static void exidx_step(struct exidx_run *r, uint8_t op)
{
	uint32_t mask;

	if (op < 0x40) {
		move(r, (uint64_t)op * 4 + 4);
	} else if (op < 0x80) {
		r->failed |= __builtin_sub_overflow(r->at, (op & 0x3f) * 4 + 4, &r->at);
	} else if (op < 0x90) {
		mask = (uint32_t)(op & 15) << 8 | exidx_take(&r->code);
		r->failed |= !mask; /* "refuse to unwind" */
		exidx_pop(r, mask << 4);
	} else if (op < 0xa0) {
		use_base(r, op & 15);
	} else if (op < 0xb0) {
		exidx_pop(r, ((1U << ((op & 7) + 1)) - 1) << 4 |
				     (op & 8 ? 1U << LINK : 0));
	} else {
		step_rest(r, op);
	}
}

static void exidx_finish(const struct exidx_run *r, struct cfi_state *state)
{
	state->base = UNWIND_BASE_REG;
	state->reg = r->base;
	state->offset = r->at;
	for (unsigned int i = 0; i < REGISTERS; i++) {
		struct cfi_register *reg = &state->registers[i == PC ? LINK : i];
		int32_t value;

		if (!(r->has >> i & 1))
			continue;
		if (__builtin_sub_overflow(r->saved[i], r->at, &value)) {
			state->base = UNWIND_NONE;
			return;
		}
		*reg = (struct cfi_register){ .how = UNWIND_AT_CFA, .value = value };
	}
}

void exidx_state(const struct exidx *x, size_t i, struct cfi_state *ret_state)
{
	struct exidx_run r = { .base = SP };
	uint8_t op = 0;

	*ret_state = (struct cfi_state){ .base = UNWIND_NONE };
	for (unsigned int reg = 0; reg < UNWIND_REGS; reg++)
		ret_state->registers[reg].how = CFI_SAME;
	if (exidx_is_first(x, i)) {
		ret_state->base = UNWIND_BASE_REG;
		ret_state->reg = SP;
		ret_state->registers[LINK].how = UNWIND_UNDEFINED;
		return;
	}
	if (!exidx_find_code(x, i, &r.code))
		return;
	for (unsigned int n = 0; !r.failed && n < STEPS_MAX; n++) {
		op = exidx_take(&r.code);
		if (op == OP_FINISH)
			break;
		exidx_step(&r, op);
	}
	if (op == OP_FINISH && !r.failed && !r.code.c.failed)
		exidx_finish(&r, ret_state);
}
