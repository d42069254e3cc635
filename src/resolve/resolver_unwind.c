/* resolver_unwind.c - user stacks of samples that brought their registers and a part of the
 * stack, for resolver_samples.c. */
#include <errno.h>
#include <stdlib.h>

#include "resolve/resolver_priv.h"
#include "resolve/unwind.h"

struct find {
	struct resolver *r;
	const struct resolver_found *at;
};

static enum unwind_code find_code(void *ctx, uint64_t pc,
				  const struct unwind_table **ret_table,
				  uint64_t *ret_offset)
{
	const struct find *f = ctx;
	const struct mapping *m = space_find(f->at->user->root, pc);
	uint32_t image;

	if (!m)
		return UNWIND_CODE_NOWHERE;
	image = image_table_hit(&f->r->images, m->image, f->at->process->pid, m);
	*ret_offset = pc - m->start + m->pgoff;
	*ret_table =
		image == DICT_NONE ? NULL : f->r->unwind.table(f->r->unwind.ctx, image);
	return *ret_table ? UNWIND_CODE_WITH_TABLE : UNWIND_CODE_WITHOUT;
}

int resolver_use_unwind(struct resolver *r, const struct resolver_unwind *unwind)
{
	if (!r->pcs)
		r->pcs = malloc(CHAIN_MAX * sizeof(*r->pcs));
	if (!r->pcs)
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

bool resolver_unwind_stack(struct resolver *r, const struct decoder *d,
			   const struct record *rec, const struct resolver_found *at,
			   size_t max, size_t *ret_nr)
{
	const struct record_sample *s = &rec->sample;
	const struct unwind_arch *arch = unwind_arch_of_machine(
		r->unwind.machine, s->user_regs.abi == PERF_SAMPLE_REGS_ABI_32);
	struct find find = { r, at };
	struct unwind_ops ops = { .find = find_code, .ctx = &find };
	struct unwind_window window = { .bytes = s->user_stack.at,
					.len = s->user_stack.len,
					.swap = d->swap };
	struct unwind_regs regs;
	struct unwind_moment moment = { arch, &window, &ops, &regs };
	enum unwind_end end;

	*ret_nr = 0;
	if (!arch || !unwind_regs_of_sample(arch, d, &s->user_regs, &regs))
		return false;
	window.start = regs.at[arch->sp];
	end = unwind_stack(&moment, r->pcs, max, ret_nr);
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
