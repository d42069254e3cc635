/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/unwind/unwind.h"

#include <elf.h>
#include <string.h>

#include "decode/record.h"
#include "resolve/unwind/a64_leaf.h"
#include "resolve/unwind/bare.h"
#include "resolve/unwind/expr.h"
#include "resolve/unwind/table.h"

enum {
	SCAN_BYTES = 512 /* of a frame whose return address is searched */
};

struct unwind_run {
	const struct unwind_arch *arch;
	const struct unwind_window *window;
	const struct unwind_ops *ops;
	struct unwind_regs *regs;
	uint64_t cfa;        /* of the previous frame; 0: none */
	bool is_return;      /* pc is a return address: the call is before it */
	bool is_short;       /* a word after the window was needed */
	unsigned int word;   /* size of a word, in bytes */
	uint64_t mask;       /* mask for addresses in registers */
	uint32_t steps_left; /* operations of expressions */
};

enum {
	/* Operations of all expressions of a stack: enough for 2000 frames of functions that
	 * realign the stack. A hostile binary could need 1000 for each register. */
	STACK_STEPS_MAX = 20000
};

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[UNWIND_ENDS] = {
		[UNWIND_END_ROOT] = "complete",
		[UNWIND_END_NO_RULE] = "no unwind information",
		[UNWIND_END_SHORT] = "the copied part of the stack was too short",
		[UNWIND_END_MEMORY] = "unwind information led outside of the stack",
		[UNWIND_END_ADDRESS] = "a return address without code",
		[UNWIND_END_LIMIT] = "too many frames",
	};

	return end < UNWIND_ENDS ? texts[end] : "";
}

bool unwind_regs_of_sample(const struct unwind_arch *arch, const struct decoder *d,
			   const struct record_regs *sample,
			   struct unwind_regs *ret_regs)
{
	bool has_pc = false;
	uint64_t nr = 0;

	*ret_regs = (struct unwind_regs){ 0 };
	for (unsigned int i = 0; i < 64; i++) {
		uint64_t v;

		if (!(sample->mask >> i & 1))
			continue;
		v = decoder_u64_at(d, sample->values, nr++);
		if (i == arch->perf_pc) {
			ret_regs->pc = v & arch->address_bits;
			has_pc = true;
		}
		if (i < arch->nr_perf && arch->perf[i] != UNWIND_NO_REG) {
			ret_regs->at[arch->perf[i]] = v;
			ret_regs->known |= 1ULL << arch->perf[i];
		}
	}
	return has_pc && ret_regs->known >> arch->sp & 1;
}

static uint64_t unwind_load(const uint8_t *at, unsigned int bytes, bool swap)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (bytes) {
	case 8:
		memcpy(&v8, at, sizeof(v8));
		return swap ? __builtin_bswap64(v8) : v8;
	case 4:
		memcpy(&v4, at, sizeof(v4));
		return swap ? __builtin_bswap32(v4) : v4;
	case 2:
		memcpy(&v2, at, sizeof(v2));
		return swap ? __builtin_bswap16(v2) : v2;
	default:
		return *at;
	}
}

static bool read_memory(void *ctx, uint64_t address, unsigned int bytes,
			uint64_t *ret_value)
{
	struct unwind_run *r = ctx;
	const struct unwind_window *w = r->window;
	uint64_t at;

	address &= r->mask;
	at = address - w->start;
	/* Only expressions use other sizes, and only powers of two are supported. */
	if (bytes & (bytes - 1))
		return false;
	if (address >= w->start && at <= w->len && bytes <= w->len - at) {
		*ret_value = unwind_load(w->bytes + at, bytes, w->swap);
		return true;
	}
	if (r->ops->read && r->ops->read(r->ops->ctx, address, bytes, ret_value))
		return true;
	/* An address less than 4 GiB after the start of the window can be on the stack; any
	 * other cannot. */
	r->is_short |= address >= w->start && at < 1ULL << 32;
	return false;
}

static bool evaluate(struct unwind_run *r, const struct unwind_table *t, int32_t at,
		     bool has_first, uint64_t *ret_value)
{
	struct unwind_expr_env env = { .arch = r->arch,
				       .swap = t->swap,
				       .registers = r->regs->at,
				       .known = r->regs->known,
				       .read = read_memory,
				       .ctx = r,
				       .steps_left = &r->steps_left };
	const uint8_t *code;
	size_t len;

	code = unwind_table_code(t, at, &len);
	return unwind_expr(code, len, &env, has_first, *ret_value, ret_value) == 0;
}

static bool find_cfa(struct unwind_run *r, const struct unwind_table *t,
		     const struct unwind_set *set, uint64_t *ret_cfa)
{
	*ret_cfa = 0;
	if (set->base == UNWIND_BASE_CODE)
		return evaluate(r, t, set->offset, false, ret_cfa);
	if (!(r->regs->known >> set->reg & 1))
		return false;
	*ret_cfa = (r->regs->at[set->reg] + (uint64_t)(int64_t)set->offset) & r->mask;
	return true;
}

/* Reads a register that was saved in memory. If the address is below the sampled stack pointer,
 * uses the current value of the register: the epilogue has already restored it, and compilers do
 * not always describe that. Returns false if the value is unknown. */
static bool unwind_fetch(struct unwind_run *r, unsigned int slot, uint64_t address,
			 uint64_t *ret_value)
{
	if (read_memory(r, address, r->word, ret_value))
		return true;
	*ret_value = r->regs->at[slot];
	return (address & r->mask) < r->window->start && slot != r->arch->pc &&
	       r->regs->known >> slot & 1;
}

/* Computes the caller's value of a single register. Returns false if it is unknown. */
static bool unwind_apply(struct unwind_run *r, const struct unwind_table *t,
			 const struct unwind_rule *rule, uint64_t cfa,
			 uint64_t *ret_value)
{
	switch (rule->how) {
	case UNWIND_AT_CFA:
		return unwind_fetch(r, rule->slot, cfa + (uint64_t)(int64_t)rule->value,
				    ret_value);
	case UNWIND_CFA_PLUS:
		*ret_value = cfa + (uint64_t)(int64_t)rule->value;
		return true;
	case UNWIND_REGISTER:
		*ret_value = r->regs->at[rule->value];
		return r->regs->known >> rule->value & 1;
	case UNWIND_EXPRESSION:
		*ret_value = cfa;
		return evaluate(r, t, rule->value, true, ret_value) &&
		       unwind_fetch(r, rule->slot, *ret_value, ret_value);
	case UNWIND_VALUE:
		*ret_value = cfa;
		return evaluate(r, t, rule->value, true, ret_value);
	default:
		return false;
	}
}

/* Computes the caller's registers. Returns false, with the reason in *ret_end, if there is no
 * caller or it is unknown. */
static bool step_rules(struct unwind_run *r, const struct unwind_table *t,
		       const struct unwind_set *set, enum unwind_end *ret_end)
{
	const struct unwind_arch *a = r->arch;
	const struct unwind_rule *rules =
		set->nr_rules ? t->rules.at + set->first_rule : NULL;
	struct unwind_regs *regs = r->regs;
	uint64_t values[UNWIND_REGS];
	uint64_t known = regs->known, cfa, pc;
	bool has_sp = false, has_return = false;

	*ret_end = UNWIND_END_MEMORY;
	if (!find_cfa(r, t, set, &cfa))
		return false;
	for (unsigned int i = 0; i < set->nr_rules; i++) {
		bool good;

		values[i] = 0;
		good = unwind_apply(r, t, &rules[i], cfa, &values[i]);

		has_sp |= rules[i].slot == a->sp;
		if (rules[i].slot == set->return_slot) {
			has_return = true;
			if (rules[i].how == UNWIND_UNDEFINED)
				*ret_end = UNWIND_END_ROOT;
			if (!good)
				return false;
		}
		known = good ? known | 1ULL << rules[i].slot
			     : known & ~(1ULL << rules[i].slot);
	}
	for (unsigned int i = 0; i < set->nr_rules; i++)
		regs->at[rules[i].slot] = values[i];
	regs->known = known;
	if (!has_sp) {
		regs->at[a->sp] = (cfa - a->frame_bias) & r->mask;
		regs->known |= 1ULL << a->sp;
	}
	/* A return address in its register is valid for the innermost frame, and for one that a
	 * signal interrupted, if the sample has that register. */
	if (!has_return && (a->link == UNWIND_NO_REG || r->is_return ||
			    !(regs->known >> set->return_slot & 1))) {
		*ret_end = UNWIND_END_NO_RULE;
		return false;
	}
	pc = regs->at[set->return_slot] & a->address_bits;
	if (pc == regs->pc && cfa == r->cfa)
		return false;
	r->cfa = cfa;
	r->is_return = !set->is_signal;
	regs->pc = pc;
	return true;
}

static bool unwind_bare_address(const struct unwind_run *r, struct bare_place p,
				uint64_t *ret_address)
{
	unsigned int slot = p.base == BARE_SP ? r->arch->sp : r->arch->fp;

	*ret_address = r->regs->at[slot] + (uint64_t)(int64_t)p.offset;
	return p.base != BARE_UNKNOWN && r->regs->known >> slot & 1;
}

/* Reads the return address of a candidate, and checks whether it follows a call that leads here. */
static bool unwind_bare_return(struct unwind_run *r, struct unwind_bare *bare,
			       const struct unwind_bare_ops *code, uint64_t space,
			       const struct bare_caller *way, uint64_t *ret_pc)
{
	const struct unwind_table *table;
	uint64_t at, offset;

	return unwind_bare_address(r, way->return_address, &at) &&
	       at >= r->regs->at[r->arch->sp] && read_memory(r, at, r->word, ret_pc) &&
	       *ret_pc &&
	       r->ops->find(r->ops->ctx, *ret_pc - 1, &table, &offset) !=
		       UNWIND_CODE_NOWHERE &&
	       unwind_bare_is_call(bare, code, space, r->regs->pc, way, *ret_pc);
}

static void unwind_bare_apply(struct unwind_run *r, const struct bare_caller *way,
			      uint64_t pc)
{
	struct unwind_regs *regs = r->regs;
	struct unwind_regs next = *regs;
	uint64_t at = 0;

	for (unsigned int i = 0; i < BARE_SAVED; i++) {
		unsigned int slot = unwind_bare_slot(!r->arch->is64, i);
		bool is_good;

		if (way->saved[i].base == BARE_UNKNOWN || slot == UNWIND_NO_REG)
			continue;
		is_good = unwind_bare_address(r, way->saved[i], &at) &&
			  read_memory(r, at, r->word, &next.at[slot]);
		next.known = is_good ? next.known | 1ULL << slot
				     : next.known & ~(1ULL << slot);
	}
	(void)unwind_bare_address(r, way->return_address, &at);
	next.at[r->arch->sp] = at + r->word + way->popped;
	next.pc = pc;
	*regs = next;
	r->cfa = next.at[r->arch->sp];
	r->is_return = true;
}

static void unwind_bare_forget(struct unwind_run *r)
{
	for (unsigned int i = 0; i < BARE_SAVED; i++) {
		unsigned int slot = unwind_bare_slot(!r->arch->is64, i);

		if (slot != UNWIND_NO_REG)
			r->regs->known &= ~(1ULL << slot);
	}
}

/* Searches the stack for the return address of a function that does not return. The registers that
 * it saved stay unknown. Returns false if no return address was found. */
static bool unwind_bare_scan(struct unwind_run *r, struct unwind_bare *bare,
			     const struct unwind_bare_ops *code, uint64_t space)
{
	uint64_t sp = r->regs->at[r->arch->sp], pc, offset;
	const struct unwind_table *table;

	for (int depth = 0; depth < SCAN_BYTES; depth += (int)r->word) {
		struct bare_caller way = { .return_address = { BARE_SP, depth } };

		if (!read_memory(r, sp + (unsigned int)depth, r->word, &pc))
			return false;
		if (!pc ||
		    r->ops->find(r->ops->ctx, pc - 1, &table, &offset) ==
			    UNWIND_CODE_NOWHERE ||
		    !unwind_bare_is_entered(bare, code, space, r->regs->pc, pc, depth))
			continue;
		unwind_bare_apply(r, &way, pc);
		unwind_bare_forget(r);
		return true;
	}
	return false;
}

/* Unwinds the innermost frame of AArch64 code without rules by the link register. Returns false if
 * that is not possible. */
static bool unwind_bare_link(struct unwind_run *r, const struct unwind_bare_ops *code)
{
	const struct unwind_arch *a = r->arch;
	struct unwind_regs *regs = r->regs;
	const uint64_t pc = regs->at[a->link] & a->address_bits;
	const struct unwind_table *table;
	uint64_t offset;
	int64_t sp;

	if (r->is_return || !(regs->known >> a->link & 1) || !pc ||
	    r->ops->find(r->ops->ctx, pc - 1, &table, &offset) == UNWIND_CODE_NOWHERE ||
	    !a64_leaf_caller(code, regs->pc, pc, &sp))
		return false;
	regs->at[a->sp] += (uint64_t)sp;
	regs->pc = pc;
	r->cfa = regs->at[a->sp];
	r->is_return = true;
	return true;
}

/* Unwinds code without rules by its instructions. Returns false if that is not possible. */
static bool step_bare(struct unwind_run *r)
{
	const bool is_a64 = r->arch->elf_machine == EM_AARCH64;
	struct unwind_bare_ops code;
	const struct bare_caller *ways;
	struct unwind_bare *bare;
	uint64_t pc, space;
	uint8_t byte;
	size_t nr;

	if (!r->ops->bare || (!is_a64 && r->arch->elf_machine != EM_386 &&
			      (r->arch->elf_machine != EM_X86_64 || !r->arch->is64)))
		return false;
	bare = r->ops->bare(r->ops->ctx, &code, &space);
	code.is_i386 = r->arch->elf_machine == EM_386;
	/* Code of JIT compilers is not in a file. */
	if (!bare || code.code(code.ctx, r->regs->pc - r->is_return, &byte, 1) != 1)
		return false;
	if (is_a64)
		return unwind_bare_link(r, &code);
	nr = unwind_bare_callers(bare, &code, space, r->regs->pc, &ways);
	for (size_t i = 0; i < nr; i++)
		if (unwind_bare_return(r, bare, &code, space, &ways[i], &pc)) {
			unwind_bare_apply(r, &ways[i], pc);
			return true;
		}
	/* If a return instruction was found, the stack is not searched, even if no candidate was
	 * proved. */
	return !nr && unwind_bare_scan(r, bare, &code, space);
}

/* Unwinds code without rules by frame pointers, if it uses them. Returns false, with the reason in
 * *ret_end, if the frame pointer does not lead to a caller. */
static bool step_frame_pointer(struct unwind_run *r, enum unwind_end *ret_end)
{
	const struct unwind_arch *a = r->arch;
	struct unwind_regs *regs = r->regs;
	uint64_t fp, next, pc;

	*ret_end = UNWIND_END_NO_RULE;
	if (a->fp == UNWIND_NO_REG || !(regs->known >> a->fp & 1))
		return false;
	fp = regs->at[a->fp] & r->mask;
	if (!fp && r->is_return)
		*ret_end = UNWIND_END_ROOT;
	if (fp < regs->at[a->sp] || fp % r->word)
		return false;
	if (!read_memory(r, fp, r->word, &next) ||
	    !read_memory(r, fp + r->word, r->word, &pc))
		return false;
	regs->at[a->fp] = next;
	regs->at[a->sp] = fp + 2ULL * r->word;
	regs->pc = pc & a->address_bits;
	if (a->link != UNWIND_NO_REG)
		regs->at[a->link] = pc;
	r->cfa = regs->at[a->sp];
	r->is_return = true;
	return true;
}

/* The progress of a stack to its next frame. */
enum stage {
	STAGE_CODE,  /* look up the program counter */
	STAGE_ROW,   /* find the row in the table */
	STAGE_SET,   /* get the set of rules */
	STAGE_RULES, /* apply the rules */
	STAGE_END
};

/* One stack that is being unwound. */
struct unwind_walk {
	struct unwind_run run;
	struct unwind_job *job;
	enum stage stage;
	enum unwind_code code;
	const struct unwind_table *table;
	const struct unwind_set *set; /* NULL: no rules */
	uint64_t offset;
};

static void unwind_find_code(struct unwind_walk *w)
{
	struct unwind_run *r = &w->run;

	/* The call might be the last instruction of its function. */
	w->table = NULL;
	w->set = NULL;
	w->code = r->ops->find(r->ops->ctx, r->regs->pc - r->is_return, &w->table,
			       &w->offset);
}

static void find_set(struct unwind_walk *w)
{
	const struct unwind_set *set;

	if (w->code != UNWIND_CODE_WITH_TABLE)
		return;
	set = unwind_table_find(w->table, w->offset);
	if (set->base != UNWIND_NONE && w->table->arch == w->run.arch)
		w->set = set;
}

/* Moves to the caller's frame. Returns false, with the reason in *ret_end, at the end of the stack.
 */
static bool unwind_step(struct unwind_walk *w, enum unwind_end *ret_end)
{
	struct unwind_run *r = &w->run;

	if (w->code == UNWIND_CODE_NOWHERE) {
		*ret_end = UNWIND_END_ADDRESS;
		return false;
	}
	if (r->arch->pc != UNWIND_NO_REG) {
		r->regs->at[r->arch->pc] = r->regs->pc;
		r->regs->known |= 1ULL << r->arch->pc;
	}
	if (w->set)
		return step_rules(r, w->table, w->set, ret_end);
	return step_bare(r) || step_frame_pointer(r, ret_end);
}

/* Runs one step. Returns UNWIND_END_LIMIT if there is a caller. */
static enum unwind_end go_up(struct unwind_walk *w)
{
	struct unwind_run *r = &w->run;
	enum unwind_end end = UNWIND_END_LIMIT;

	r->is_short = false;
	if (unwind_step(w, &end))
		return r->regs->pc ? UNWIND_END_LIMIT : UNWIND_END_ROOT;
	return r->is_short && end != UNWIND_END_ROOT ? UNWIND_END_SHORT : end;
}

/* Prefetches the words before the frame's address, which contain the return address. */
static void ask_for_frame(const struct unwind_walk *w)
{
	const struct unwind_window *window = w->run.window;
	uint64_t at;

	if (!w->set || w->set->base != UNWIND_BASE_REG)
		return;
	at = w->run.regs->at[w->set->reg] + (uint64_t)(int64_t)w->set->offset -
	     w->run.word - window->start;
	if (at < window->len)
		__builtin_prefetch(window->bytes + at);
}

static void take_step(struct unwind_walk *w)
{
	struct unwind_job *job = w->job;

	job->pcs[job->nr] = w->run.regs->pc + (job->nr && !w->run.is_return);
	job->nr++;
	job->end = go_up(w);
	/* An address outside of code cannot be a caller. */
	job->nr -= job->end == UNWIND_END_ADDRESS && job->nr > 1;
	w->stage = job->end == UNWIND_END_LIMIT && job->nr < job->max ? STAGE_CODE
								      : STAGE_END;
	if (w->stage == STAGE_END && job->moment.nr_steps)
		*job->moment.nr_steps += STACK_STEPS_MAX - w->run.steps_left;
}

/* Runs one stage, and prefetches the memory that the next stage reads. */
static void unwind_go_on(struct unwind_walk *w)
{
	switch (w->stage) {
	case STAGE_CODE:
		unwind_find_code(w);
		w->stage = STAGE_RULES;
		if (w->code == UNWIND_CODE_WITH_TABLE) {
			unwind_table_ask_bucket(w->table, w->offset);
			w->stage = STAGE_ROW;
		}
		break;
	case STAGE_ROW:
		unwind_table_ask_row(w->table, w->offset);
		w->stage = STAGE_SET;
		break;
	case STAGE_SET:
		find_set(w);
		ask_for_frame(w);
		w->stage = STAGE_RULES;
		break;
	case STAGE_RULES:
		take_step(w);
		break;
	case STAGE_END:
	default:
		break;
	}
}

static void begin_walk(struct unwind_walk *w, struct unwind_job *job)
{
	const struct unwind_moment *m = &job->moment;

	*w = (struct unwind_walk){ .job = job,
				   .stage = job->max ? STAGE_CODE : STAGE_END,
				   .run = { .arch = m->arch,
					    .window = m->window,
					    .ops = m->ops,
					    .regs = m->regs,
					    .steps_left = STACK_STEPS_MAX,
					    .word = m->arch->is64 ? 8 : 4,
					    .mask = m->arch->is64 ? UINT64_MAX
								  : UINT32_MAX } };
	job->nr = 0;
	job->end = UNWIND_END_LIMIT;
}

void unwind_stacks(struct unwind_job *jobs, size_t nr)
{
	struct unwind_walk walks[UNWIND_TOGETHER];
	struct unwind_walk *going[UNWIND_TOGETHER];
	size_t left = 0;

	for (; left < nr; left++) {
		going[left] = &walks[left];
		begin_walk(&walks[left], &jobs[left]);
	}
	while (left) {
		nr = left;
		left = 0;
		for (size_t i = 0; i < nr; i++) {
			unwind_go_on(going[i]);
			if (going[i]->stage != STAGE_END)
				going[left++] = going[i];
		}
	}
}

enum unwind_end unwind_stack(const struct unwind_moment *m, uint64_t *pcs, size_t max,
			     size_t *ret_nr)
{
	struct unwind_job job = { .moment = *m, .pcs = pcs, .max = max };
	struct unwind_walk w;

	begin_walk(&w, &job);
	while (w.stage != STAGE_END) {
		unwind_find_code(&w);
		find_set(&w);
		take_step(&w);
	}
	*ret_nr = job.nr;
	return job.end;
}
