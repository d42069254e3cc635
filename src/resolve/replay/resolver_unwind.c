/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_unwind.c - unwinds user stacks of samples that contain registers and a part of the
 * stack, for resolver_samples.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/replay/resolver_ahead.h"
#include "resolve/replay/resolver_priv.h"
#include "resolve/unwind/bare.h"
#include "resolve/unwind/table.h"
#include "resolve/unwind/unwind.h"

struct resolver_unwind_find {
	struct resolver *r;
	const struct resolver_found *at;
	uint64_t time_ns;
};

static bool resolver_unwind_read_rest(void *ctx, uint64_t address, unsigned int bytes,
				      uint64_t *ret_value)
{
	const struct resolver_unwind_find *f = ctx;

	return stack_rest_read(f->r->rest, address, bytes, ret_value);
}

const struct unwind_table *resolver_table_later(void)
{
	static const struct unwind_table later;

	return &later;
}

static const struct unwind_table *
resolver_unwind_table(const struct resolver_unwind_find *f, uint32_t image,
		      uint64_t *offset)
{
	const struct resolver_unwind *u = &f->r->unwind;

	if (image == DICT_NONE)
		return NULL;
	if (u->jit_table && f->r->dict->images.at[image].kind == IMAGE_ANON)
		return u->jit_table(u->jit_ctx, image, offset, f->time_ns);
	return u->table(u->ctx, image);
}

static enum unwind_code resolver_unwind_find_code(void *ctx, uint64_t pc,
						  const struct unwind_table **ret_table,
						  uint64_t *ret_offset)
{
	const struct resolver_unwind_find *f = ctx;
	const struct mapping *m = space_find(f->at->user->root, pc);
	uint32_t image;

	if (!m)
		return UNWIND_CODE_NOWHERE;
	image = image_table_hit(&f->r->images, m->image, f->at->process->pid, m);
	*ret_offset = pc - m->start + m->pgoff;
	*ret_table = resolver_unwind_table(f, image, ret_offset);
	if (*ret_table == resolver_table_later()) {
		f->r->later = true;
		return UNWIND_CODE_NOWHERE;
	}
	if (f->r->ahead && image != DICT_NONE)
		resolver_ahead_note(f->r->ahead, m->image, *ret_table);
	return *ret_table ? UNWIND_CODE_WITH_TABLE : UNWIND_CODE_WITHOUT;
}

static size_t resolver_unwind_read_code(void *ctx, uint64_t address, uint8_t *ret_bytes,
					size_t len)
{
	const struct resolver_unwind_find *f = ctx;
	const struct mapping *m = space_find(f->at->user->root, address);
	uint32_t image;

	if (!m || f->r->images.entries.at[m->image].image.kind != IMAGE_FILE)
		return 0;
	image = image_table_hit(&f->r->images, m->image, f->at->process->pid, m);
	if (len > m->end - address)
		len = (size_t)(m->end - address);
	return image == DICT_NONE ? 0
				  : f->r->unwind.code(f->r->unwind.ctx, image,
						      address - m->start + m->pgoff,
						      ret_bytes, len);
}

static struct unwind_bare *
resolver_unwind_bare(void *ctx, struct unwind_bare_ops *ret_code, uint64_t *ret_space)
{
	struct resolver_unwind_find *f = ctx;

	if (!f->r->unwind.code || (!f->r->bare && unwind_bare_new(&f->r->bare)))
		return NULL;
	*ret_code = (struct unwind_bare_ops){ .code = resolver_unwind_read_code,
					      .ctx = ctx };
	*ret_space = f->at->user->generation;
	return f->r->bare;
}

static bool resolver_unwind_is_code(void *ctx, uint64_t address)
{
	const struct resolver_unwind_find *f = ctx;

	return space_find(f->at->user->root, address - 1);
}

int resolver_use_unwind(struct resolver *r, const struct resolver_unwind *unwind)
{
	if (!r->pcs)
		r->pcs = malloc(CHAIN_MAX * sizeof(*r->pcs));
	if (unwind->copy && !r->rest) {
		r->rest = malloc(sizeof(*r->rest));
		r->rest_pcs = malloc(CHAIN_MAX * sizeof(*r->rest_pcs));
	}
	if (!r->pcs || (unwind->copy && (!r->rest || !r->rest_pcs)))
		return -ENOMEM;
	r->unwind = *unwind;
	return 0;
}

bool resolver_can_unwind(const struct resolver *r, const struct record_sample *s)
{
	const uint64_t needs = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return r->unwind.table && (s->has & needs) == needs && s->user_regs.abi &&
	       s->user_stack.len;
}

/* Unwinds a stack that is longer than its copy again, with the rest from the memory of its
 * process. Returns false if that does not lead to the root either: then the first result is as
 * good. */
static bool unwind_with_rest(struct resolver *r, const struct unwind_moment *first,
			     const struct resolver_found *at, size_t max,
			     size_t *ret_nr)
{
	struct resolver_unwind_find find =
		*(const struct resolver_unwind_find *)first->ops->ctx;
	const struct unwind_window nothing = { .start = first->window->start };
	const struct unwind_ops ops = { .find = first->ops->find,
					.read = resolver_unwind_read_rest,
					.bare = resolver_unwind_bare,
					.ctx = &find };
	const struct unwind_moment moment = { first->arch, &nothing, &ops, first->regs,
					      &r->unwind_steps };

	r->rest->copy = r->unwind.copy;
	r->rest->ctx = r->unwind.ctx;
	r->rest->is_code = resolver_unwind_is_code;
	r->rest->code_ctx = &find;
	r->rest->pid = at->process->pid;
	stack_rest_begin(r->rest, first->window, first->arch->is64);
	return unwind_stack(&moment, r->rest_pcs, max, ret_nr) == UNWIND_END_ROOT;
}

static bool try_rest(struct resolver *r, struct unwind_moment *moment,
		     const struct resolver_found *at, size_t max, size_t *ret_nr)
{
	size_t nr;

	/* The process has ended, so its memory is gone. */
	if (at->process->end_ns != UINT64_MAX)
		return false;
	r->rests.tried++;
	if (!unwind_with_rest(r, moment, at, max, &nr))
		return false;
	r->rests.found++;
	memcpy(r->pcs, r->rest_pcs, nr * sizeof(*r->pcs));
	*ret_nr = nr;
	return true;
}

const struct unwind_arch *resolver_moment(const struct resolver *r,
					  const struct decoder *d,
					  const struct record *rec,
					  struct unwind_window *ret_window,
					  struct unwind_regs *ret_regs)
{
	const struct record_sample *s = &rec->sample;
	const struct unwind_arch *arch = unwind_arch_of_machine(
		r->unwind.machine, s->user_regs.abi == PERF_SAMPLE_REGS_ABI_32);

	if (!arch || !unwind_regs_of_sample(arch, d, &s->user_regs, ret_regs))
		return NULL;
	*ret_window = (struct unwind_window){ .bytes = s->user_stack.at,
					      .len = s->user_stack.len,
					      .swap = d->swap,
					      .start = ret_regs->at[arch->sp] };
	return arch;
}

/* Uses the result of unwinding ahead of time, if it is from the same address space. Returns false
 * if it cannot be used. The other thread did not know how much room `pcs` has, so a stack that ends
 * at the limit is unwound again. */
static bool take_ahead(struct resolver *r, const struct resolver_found *at, size_t max,
		       size_t *ret_nr)
{
	const struct ahead_stack *stack = at->ahead;

	if (!stack || !stack->found || stack->root != at->user->root ||
	    stack->nr > max || (stack->nr == max && max < CHAIN_MAX))
		return false;
	memcpy(r->pcs, stack->pcs, stack->nr * sizeof(*r->pcs));
	*ret_nr = stack->nr;
	return true;
}

bool resolver_unwind_stack(struct resolver *r, const struct decoder *d,
			   const struct record *rec, const struct resolver_found *at,
			   size_t max, size_t *ret_nr)
{
	struct resolver_unwind_find find = { r, at, rec->id.time_ns };
	struct unwind_ops ops = { .find = resolver_unwind_find_code,
				  .bare = resolver_unwind_bare,
				  .ctx = &find };
	struct unwind_window window;
	struct unwind_regs regs, again;
	struct unwind_moment moment = { NULL, &window, &ops, &regs, &r->unwind_steps };
	bool is_ahead = take_ahead(r, at, max, ret_nr);
	enum unwind_end end;

	if (is_ahead && (at->ahead->end != UNWIND_END_SHORT || !r->unwind.copy)) {
		r->unwind_ends[at->ahead->end]++;
		return at->ahead->end == UNWIND_END_ROOT;
	}
	moment.arch = resolver_moment(r, d, rec, &window, &regs);
	if (!moment.arch) {
		*ret_nr = 0;
		return false;
	}
	again = regs;
	end = is_ahead ? at->ahead->end : unwind_stack(&moment, r->pcs, max, ret_nr);
	if (r->later)
		return false;
	moment.regs = &again;
	if (end == UNWIND_END_SHORT && r->unwind.copy &&
	    try_rest(r, &moment, at, max, ret_nr))
		end = UNWIND_END_ROOT;
	if (r->later)
		return false;
	r->unwind_ends[end]++;
	return end == UNWIND_END_ROOT;
}

const uint64_t *resolver_unwound(struct resolver *r, const struct decoder *d,
				 const struct record *rec, size_t max, size_t *ret_nr)
{
	*ret_nr = 0;
	if (resolver_can_unwind(r, &rec->sample))
		(void)resolver_unwind_stack(r, d, rec, &r->here,
					    max < CHAIN_MAX ? max : CHAIN_MAX, ret_nr);
	return r->pcs;
}

const uint64_t *resolver_last_unwound(const struct resolver *r, size_t *ret_nr)
{
	*ret_nr = r->nr_pcs;
	return r->pcs;
}

const uint64_t *resolver_unwind_ends(const struct resolver *r)
{
	return r->unwind_ends;
}

struct resolver_rests resolver_unwind_rests(const struct resolver *r)
{
	return r->rests;
}
