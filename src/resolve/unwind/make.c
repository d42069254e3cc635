/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make.c - builds the unwind table of a binary. */
#include "resolve/unwind/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/hash.h"
#include "base/containers/sort_keys.h"
#include "resolve/unwind/asm.h"
#include "resolve/unwind/cfi_rows.h"
#include "resolve/unwind/exidx.h"
#include "resolve/unwind/sframe.h"

enum {
	CFA_UNDEFINED = 0x07, /* DW_CFA_undefined: DWARF 5, section 7.24 */
	OTHER_ROWS_MAX = 1 << 24,
	ENTRY_MAX = 256, /* length of the code at the program's entry point */
	ROWS_A_BUCKET = 4,
	HASH_SEED = 7
};

/* An FDE with its CIE: the walk keeps only the last one. */
struct unwind_make_entry {
	struct cfi_fde fde;
	uint64_t offset; /* in the file */
	uint32_t cie;
	uint32_t walk;
};

/* A function of the other sources (.ARM.exidx, .sframe). */
struct other {
	uint64_t offset;
	uint64_t start;
	uint64_t bytes;
	uint32_t index;
};

struct unwind_make_maker {
	struct unwind_table *t;
	struct cfi_walk *walk; /* of the current function */
	const struct unwind_sources *from;
	VEC(struct other) others; /* by offset */
	size_t next_other;
	/* Number of rows that may still be read for `others`. Limited because many functions of
	 * a hostile file can share the same rows. */
	uint32_t budget;
	const uint8_t *bytes;  /* the expressions of this function */
	unsigned int ret_slot; /* this and is_signal hold for the whole function */
	bool is_signal;
	uint64_t begin; /* file offset before which its rows are dropped */
	VEC(struct unwind_make_entry) entries;
	VEC(struct cfi_cie) cies;
	const void *ctx;  /* for to_offset() and from->read() */
	struct map known; /* hash of a set -> its index */
	uint64_t delta;   /* file offset minus address, for this function */
	uint64_t end;     /* file offset of the end of the functions so far */
	uint64_t limit;   /* file offset of the end of this function */
	uint32_t last;    /* set of the last row */
	uint64_t entry;   /* file offset of the entry point, or UINT64_MAX */
};

static int push_code(struct unwind_table *t, const uint8_t *code, uint16_t len,
		     int32_t *ret_at)
{
	*ret_at = (int32_t)t->code.nr;
	if (t->code.nr > INT32_MAX - UINT16_MAX - sizeof(len) ||
	    !vec_reserve(&t->code, t->code.nr + sizeof(len) + len))
		return -ENOMEM;
	t->code.at[t->code.nr] = (uint8_t)len;
	t->code.at[t->code.nr + 1] = (uint8_t)(len >> 8);
	memcpy(t->code.at + t->code.nr + sizeof(len), code, len);
	t->code.nr += sizeof(len) + len;
	return 0;
}

static int push_rule(struct unwind_make_maker *m, unsigned int slot,
		     const struct cfi_register *reg)
{
	struct unwind_rule rule = { .slot = (uint8_t)slot,
				    .how = reg->how,
				    .value = reg->value };
	int r = 0;

	if (reg->how == UNWIND_EXPRESSION || reg->how == UNWIND_VALUE)
		r = push_code(m->t, m->bytes + reg->value, reg->code_len, &rule.value);
	if (r == 0 && !vec_push(&m->t->rules, rule))
		r = -ENOMEM;
	return r;
}

static int push_set(struct unwind_make_maker *m, const struct cfi_state *state)
{
	struct unwind_table *t = m->t;
	struct unwind_set set = { .base = state->base,
				  .reg = state->reg,
				  .is_signal = m->is_signal,
				  .offset = state->offset,
				  .first_rule = (uint32_t)t->rules.nr,
				  .return_slot = (uint8_t)m->ret_slot };
	int r = 0;

	if (state->base == UNWIND_BASE_CODE)
		r = push_code(t, m->bytes + state->offset, state->code_len,
			      &set.offset);
	for (unsigned int i = 0; r == 0 && i < t->arch->nr; i++) {
		if (state->registers[i].how == CFI_SAME)
			continue;
		r = push_rule(m, i, &state->registers[i]);
		set.nr_rules++;
	}
	return r == 0 && vec_push(&t->sets, set) ? 0 : -ENOMEM;
}

/* Returns the index of the set of rules for this state, or -ENOMEM. */
static int64_t set_of(struct unwind_make_maker *m, const struct cfi_state *state)
{
	const struct unwind_arch *arch = m->t->arch;
	struct map_slot *slot;
	uint64_t a, b;
	bool is_new;

	if (state->base == UNWIND_NONE || m->ret_slot == UNWIND_NO_REG)
		return 0;
	/* Expressions are compared by location: equal ones at different locations make
	 * different sets. */
	a = hash_bytes(state->registers, arch->nr * sizeof(state->registers[0]),
		       HASH_SEED);
	b = hash_pair((uint64_t)state->base << 48 | (uint64_t)state->reg << 32 |
			      (uint32_t)state->offset,
		      m->ret_slot << 1 | m->is_signal);
	slot = map_at(&m->known, a, b, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		slot->value_plus_1 = (uint32_t)m->t->sets.nr + 1;
		if (push_set(m, state))
			return -ENOMEM;
	}
	return slot->value_plus_1 - 1;
}

static int put_first_row(struct unwind_table *t, uint64_t offset, uint32_t set)
{
	t->base = offset;
	return vec_push(&t->rows, (struct unwind_row){ .set = set }) ? 0 : -ENOMEM;
}

/* Adds a row: from file offset `offset` on, `set` is valid. */
static int unwind_make_put_row(struct unwind_make_maker *m, uint64_t offset,
			       uint32_t set)
{
	struct unwind_table *t = m->t;
	struct unwind_row *last;
	uint32_t start;

	if (!t->rows.nr)
		return put_first_row(t, offset, set);
	last = &t->rows.at[t->rows.nr - 1];
	if (offset < t->base || offset - t->base > UINT32_MAX)
		return 0;
	start = (uint32_t)(offset - t->base);
	if (last->offset >= start) {
		last->set = set;
		return 0;
	}
	if (last->set == set)
		return 0;
	return vec_push(&t->rows, (struct unwind_row){ start, set }) ? 0 : -ENOMEM;
}

static int on_row(void *ctx, uint64_t start, const struct cfi_state *state)
{
	struct unwind_make_maker *m = ctx;
	uint64_t offset = start + m->delta;
	int64_t set;

	if (offset >= m->limit)
		return 0;
	if (offset < m->begin)
		offset = m->begin;
	set = set_of(m, state);
	return set < 0 ? (int)set : unwind_make_put_row(m, offset, (uint32_t)set);
}

static int on_other_row(void *ctx, uint64_t start, const struct cfi_state *state)
{
	struct unwind_make_maker *m = ctx;

	if (!m->budget)
		return -EBADMSG;
	m->budget--;
	return on_row(ctx, start, state);
}

static int run_other(struct unwind_make_maker *m, const struct other *o)
{
	const struct unwind_arch *a = m->t->arch;
	struct sframe_function function;
	struct cfi_state state;

	m->ret_slot = a->link == UNWIND_NO_REG ? a->pc : a->link;
	m->is_signal = false;
	m->delta = o->offset - o->start;
	if (m->from->exidx) {
		exidx_state(m->from->exidx, o->index, &state);
		return on_other_row(m, o->start, &state);
	}
	if (!sframe_function(m->from->sframe, o->index, &function))
		return 0;
	m->is_signal = sframe_is_signal(&function);
	return sframe_run(m->from->sframe, &function, on_other_row, m);
}

/* Fills the gap between two functions with the rules of other sources. */
static int put_others(struct unwind_make_maker *m, uint64_t begin, uint64_t end)
{
	int r = 0;

	while (m->next_other < m->others.nr &&
	       m->others.at[m->next_other].offset + m->others.at[m->next_other].bytes <=
		       begin)
		m->next_other++;
	for (size_t i = m->next_other; i < m->others.nr && !r; i++) {
		const struct other *o = &m->others.at[i];
		uint64_t o_end = o->offset + o->bytes;

		if (o->offset >= end)
			break;
		if (o_end <= begin)
			continue;
		m->begin = o->offset > begin ? o->offset : begin;
		m->limit = o_end < end ? o_end : end;
		begin = m->limit;
		r = run_other(m, o);
		if (r == 0 && m->t->rows.nr)
			r = unwind_make_put_row(m, m->limit, 0);
	}
	return r == -EBADMSG ? 0 : r;
}

/* Adds a rule for the entry point, which has no caller, and often no rules, as in the loader. */
static int unwind_make_put_root(struct unwind_make_maker *m, uint64_t next)
{
	struct cfi_state s = { .base = UNWIND_BASE_REG, .reg = m->t->arch->sp };
	unsigned int slot = m->t->arch->link;

	for (unsigned int i = 0; i < UNWIND_REGS; i++)
		s.registers[i].how = CFI_SAME;
	m->ret_slot = slot == UNWIND_NO_REG ? m->t->arch->pc : slot;
	s.registers[m->ret_slot].how = UNWIND_UNDEFINED;
	m->is_signal = false;
	m->delta = 0;
	m->begin = m->entry;
	m->limit = m->end = next;
	return on_row(m, m->entry, &s);
}

static int put_end(struct unwind_make_maker *m, uint64_t next)
{
	int r = m->t->rows.nr && m->end < next ? unwind_make_put_row(m, m->end, 0) : 0;

	if (r == 0)
		r = put_others(m, m->end, next);
	if (r == 0 && m->entry >= m->end && m->entry < next &&
	    next - m->entry <= ENTRY_MAX && !m->others.nr)
		r = unwind_make_put_root(m, next);
	return r;
}

static bool begins_thread(const struct unwind_make_maker *m,
			  const struct unwind_make_entry *e)
{
	const struct cfi_fde *f = &e->fde;

	return m->t->arch->elf_machine == EM_X86_64 && m->t->arch->is64 &&
	       f->program_len > 1 && f->program[0] == CFA_UNDEFINED &&
	       f->program[1] == m->cies.at[e->cie].return_register;
}

/* Adds rules for the code of clone() that creates a thread: the system call, which is before the
 * rules of the new thread's first function. */
static int put_clone(struct unwind_make_maker *m, const struct unwind_make_entry *e)
{
	uint8_t code[UNWIND_ASM_CLONE_MAX];
	struct cfi_state before, after;
	uint64_t begin = m->end, gap = e->offset - begin;
	size_t call;
	int r;

	if (!m->from->read || e->offset < begin || gap < UNWIND_ASM_CLONE_MIN ||
	    gap > sizeof(code) || !begins_thread(m, e) ||
	    !m->from->read(m->ctx, begin, code, (size_t)gap))
		return 0;
	call = unwind_asm_clone(code, (size_t)gap);
	if (!call)
		return 0;
	unwind_asm_clone_states(&before, &after, &m->bytes);
	m->ret_slot = m->t->arch->pc;
	m->is_signal = false;
	m->delta = 0;
	m->begin = begin;
	m->limit = m->end = e->offset;
	r = on_row(m, begin, &before);
	return r ? r : on_row(m, begin + call, &after);
}

static int put_entry(struct unwind_make_maker *m, const struct unwind_make_entry *e)
{
	int r = put_clone(m, e);

	if (r == 0)
		r = put_end(m, e->offset);
	m->walk = &m->from->walks[e->walk];
	m->walk->cie = m->cies.at[e->cie];
	m->bytes = m->walk->bytes;
	m->ret_slot = unwind_arch_slot(m->t->arch, m->walk->cie.return_register);
	m->is_signal = m->walk->cie.is_signal;
	m->delta = e->offset - e->fde.start;
	m->begin = e->offset;
	/* A signal trampoline ends with a system call, during which the program counter is
	 * after its last byte. */
	m->limit = e->offset + e->fde.bytes + m->is_signal;
	if (r == 0)
		r = unwind_make_put_row(m, e->offset, 0);
	if (r == 0)
		r = cfi_run(m->t->arch, m->walk, &e->fde, on_row, m);
	if (m->limit > m->end)
		m->end = m->limit;
	return r == -EBADMSG ? 0 : r;
}

static int unwind_make_collect(struct unwind_make_maker *m, uint32_t walk,
			       uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			       const void *ctx)
{
	struct unwind_make_entry e = { .walk = walk };
	size_t cie_at = SIZE_MAX;

	m->walk = &m->from->walks[walk];
	while (cfi_next(m->walk, &e.fde)) {
		e.offset = e.fde.start ? to_offset(ctx, e.fde.start) : UINT64_MAX;
		if (e.offset == UINT64_MAX || e.fde.bytes > UINT64_MAX - e.offset)
			continue;
		if (cie_at != m->walk->cie_at && !vec_push(&m->cies, m->walk->cie))
			return -ENOMEM;
		cie_at = m->walk->cie_at;
		e.cie = (uint32_t)m->cies.nr - 1;
		if (!vec_push(&m->entries, e))
			return -ENOMEM;
	}
	return 0;
}

static bool other_function(const struct unwind_sources *from, uint32_t i,
			   struct other *ret)
{
	struct sframe_function f;

	ret->index = i;
	if (from->exidx)
		return exidx_function(from->exidx, i, &ret->start, &ret->bytes);
	if (!sframe_function(from->sframe, i, &f))
		return false;
	ret->start = f.start;
	ret->bytes = f.bytes;
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int collect_others(struct unwind_make_maker *m,
			  uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			  const void *ctx)
{
	const struct unwind_sources *from = m->from;
	size_t nr = from->exidx    ? exidx_nr(from->exidx)
		    : from->sframe ? from->sframe->nr
				   : 0;
	struct other o;

	for (size_t i = 0; i < nr; i++) {
		if (!other_function(from, (uint32_t)i, &o))
			continue;
		o.offset = to_offset(ctx, o.start);
		if (o.offset == UINT64_MAX || o.bytes > UINT64_MAX - o.offset)
			continue;
		if (!vec_push(&m->others, o))
			return -ENOMEM;
	}
	if (m->others.nr)
		qsort(m->others.at, m->others.nr, sizeof(o), by_offset);
	return 0;
}

static int unwind_make_put_sorted(struct unwind_make_maker *m)
{
	size_t nr = m->entries.nr;
	struct sort_key *keys = nr ? malloc(nr * sizeof(*keys)) : NULL;
	int r = nr && !keys ? -ENOMEM : 0;

	for (size_t i = 0; keys && i < nr; i++)
		keys[i] = (struct sort_key){ m->entries.at[i].offset, (uint32_t)i };
	if (keys)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; r == 0 && i < nr; i++)
		if (!i || keys[i].at != keys[i - 1].at)
			r = put_entry(m, &m->entries.at[keys[i].index]);
	free(keys);
	return r ? r : put_end(m, UINT64_MAX);
}

static int unwind_make_buckets(struct unwind_table *t)
{
	const struct unwind_row *rows = t->rows.at;
	size_t nr = t->rows.nr;
	uint32_t row = 0;

	if (!nr)
		return 0;
	while ((uint64_t)rows[nr - 1].offset >> t->bucket_shift > nr / ROWS_A_BUCKET)
		t->bucket_shift++;
	for (uint64_t start = 0; start <= rows[nr - 1].offset;
	     start += 1ULL << t->bucket_shift) {
		while (row + 1 < nr && rows[row + 1].offset <= start)
			row++;
		if (!vec_push(&t->buckets, row))
			return -ENOMEM;
	}
	return 0;
}

static int unwind_make_compile(struct unwind_make_maker *m,
			       uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			       const void *ctx)
{
	int r = vec_push(&m->t->sets, (struct unwind_set){ .base = UNWIND_NONE })
			? 0
			: -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < m->from->nr_walks; i++)
		r = unwind_make_collect(m, i, to_offset, ctx);
	if (r == 0)
		r = collect_others(m, to_offset, ctx);
	m->entry = m->from->entry ? to_offset(ctx, m->from->entry) : UINT64_MAX;
	if (r == 0)
		r = unwind_make_put_sorted(m);
	return r ? r : unwind_make_buckets(m->t);
}

int unwind_table_compile_all(const struct unwind_arch *arch,
			     const struct unwind_sources *from,
			     uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			     const void *ctx, struct unwind_table **ret_table)
{
	struct unwind_table *t = calloc(1, sizeof(*t));
	struct unwind_make_maker m = {
		.t = t, .from = from, .ctx = ctx, .budget = OTHER_ROWS_MAX
	};
	int r = -ENOMEM;

	if (t) {
		t->arch = arch;
		t->swap = from->nr_walks && from->walks[0].swap;
		r = unwind_make_compile(&m, to_offset, ctx);
	}
	vec_done(&m.entries);
	vec_done(&m.cies);
	vec_done(&m.others);
	map_done(&m.known);
	if (r) {
		unwind_table_free(t);
		return r;
	}
	*ret_table = t;
	return 0;
}

int unwind_table_compile(const struct unwind_arch *arch, struct cfi_walk *walks,
			 size_t nr_walks,
			 uint64_t (*to_offset)(const void *ctx, uint64_t vaddr),
			 const void *ctx, struct unwind_table **ret_table)
{
	const struct unwind_sources from = { .walks = walks, .nr_walks = nr_walks };

	return unwind_table_compile_all(arch, &from, to_offset, ctx, ret_table);
}
