/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_chains.c - resolves call chains of samples, for resolver_samples.c: first the frames
 * of a chain, then the nodes of its stack. A group of samples goes through the steps together. */
#include <errno.h>

#include "base/containers/hash.h"
#include "resolve/replay/resolver_priv.h"
#include "resolve/space/chain_join.h"

enum {
	CALLERS_MAX = 128 /* callers that are looked up by image and offset */
};

/* Converts a marker in a chain (enum perf_callchain_context of <linux/perf_event.h>) to a cpu
 * mode. Returns false for any other value, which comes from a frame pointer register with other
 * data. */
static bool cpu_mode_of_marker(uint64_t marker, enum cpu_mode *ret_cpu_mode)
{
	switch (marker) {
	case PERF_CONTEXT_KERNEL:
		*ret_cpu_mode = CPU_MODE_KERNEL;
		return true;
	case PERF_CONTEXT_USER:
	case (uint64_t)-640: /* PERF_CONTEXT_USER_DEFERRED, of Linux 6.19 */
		*ret_cpu_mode = CPU_MODE_USER;
		return true;
	case PERF_CONTEXT_GUEST_KERNEL:
		*ret_cpu_mode = CPU_MODE_GUEST_KERNEL;
		return true;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_USER:
		*ret_cpu_mode = CPU_MODE_GUEST_USER;
		return true;
	case PERF_CONTEXT_HV:
		*ret_cpu_mode = CPU_MODE_HYPERVISOR;
		return true;
	default:
		return false;
	}
}

/* State of the search for the frames of a chain. */
struct chain_walk {
	const struct resolver_chain *chain;
	enum cpu_mode cpu_mode;
	uint64_t at;      /* position in the chain */
	uint32_t *frames; /* leaf first */
	uint32_t nr;
	uint32_t max;  /* frames that the stack may have */
	bool cut;      /* the rest of the chain is cut off */
	bool has_user; /* its last addresses are in user space */
};

enum frame_result {
	FRAME_FOUND,
	FRAME_UNMAPPED, /* in no mapping: dropped, except as a leaf */
	FRAME_NO_MEMORY
};

static struct frame_slot *resolver_chains_frame_slot(const struct resolver *r,
						     uint64_t generation, uint64_t ip)
{
	return &r->frames[hash_pair(ip, generation) & (FRAME_CACHE - 1)];
}

/* Finds the frame of an address, with a cache. An address in no mapping only becomes a frame as
 * a leaf: in a chain it shows where the walk went wrong, and differs in every process. */
static enum frame_result find_frame(struct resolver *r, const struct resolver_found *at,
				    uint64_t ip, enum cpu_mode cpu_mode,
				    struct frame_slot **ret_slot)
{
	const struct proc_version *version = resolver_version(r, at, cpu_mode);
	uint64_t generation = version->generation;
	struct frame_slot *slot = resolver_chains_frame_slot(r, generation, ip);
	const struct mapping *m;

	*ret_slot = slot;
	if (slot->ip == ip && slot->generation == generation)
		return FRAME_FOUND;
	m = space_find(version->root, ip);
	if (!m && cpu_mode == CPU_MODE_USER)
		return FRAME_UNMAPPED;
	*slot = (struct frame_slot){ .generation = generation,
				     .ip = ip,
				     .frame = resolver_frame(r, at, ip, cpu_mode, m) };
	if (slot->frame != DICT_NONE)
		return FRAME_FOUND;
	slot->generation = 0;
	return FRAME_NO_MEMORY;
}

/* Returns the frame of the next address of a chain, or DICT_NONE. Sets *ret_cut for an address
 * outside every executable mapping: it is not a return address, because code without frame
 * pointers used the register for other data. */
static uint32_t chain_frame(struct resolver *r, const struct resolver_found *at,
			    const struct chain_walk *w, uint64_t ip, bool *ret_cut)
{
	const struct resolver_chain *c = w->chain;
	struct frame_slot *slot;
	enum frame_result found;

	/* Do not store the frame in the cache, because few samples share it and it would evict
	 * others. Its location in the dict is prefetched already. */
	if (c->user_mapping && c->user_ip == ip && w->cpu_mode == CPU_MODE_USER) {
		*ret_cut = false;
		return resolver_frame(r, at, ip, CPU_MODE_USER, c->user_mapping);
	}
	found = find_frame(r, at, ip, w->cpu_mode, &slot);
	*ret_cut = found == FRAME_UNMAPPED && w->nr;
	if (found == FRAME_FOUND)
		return slot->frame;
	if (found == FRAME_NO_MEMORY || w->nr)
		return DICT_NONE;
	r->chain_private = true;
	return resolver_frame(r, at, ip, w->cpu_mode, NULL);
}

/* Adds the frames of a chain up to position `to`. Returns 0 or -ENOMEM. */
static int walk_chain(struct resolver *r, const struct decoder *d,
		      const struct record_sample *s, const struct resolver_found *at,
		      uint64_t to, struct chain_walk *w)
{
	for (; w->at < to; w->at++) {
		uint64_t ip = decoder_chain_at(d, s, w->at);

		if (ip >= PERF_CONTEXT_MAX) {
			w->cut = !cpu_mode_of_marker(ip, &w->cpu_mode);
			if (w->cut)
				break;
			continue;
		}
		w->cut = w->nr == w->max;
		w->has_user = w->cpu_mode == CPU_MODE_USER;
		if (!w->cut)
			w->frames[w->nr] = chain_frame(r, at, w, ip, &w->cut);
		if (w->cut)
			break;
		if (w->frames[w->nr] == DICT_NONE)
			return -ENOMEM;
		w->nr++;
	}
	return 0;
}

static uint32_t max_stack(const struct decoder *d, const struct record *rec)
{
	uint32_t most = d->attrs.at[rec->id.event].sample_max_stack;

	return most ? most : DEFAULT_MAX_STACK;
}

/* Prefetches the memory for the frames of the unwound stack. */
static void ask_for_frames(const struct resolver *r, const struct proc_version *user,
			   size_t nr)
{
	const struct mapping *m = NULL;

	for (size_t i = 0; i < nr; i++)
		__builtin_prefetch(
			resolver_chains_frame_slot(r, user->generation, r->pcs[i]));
	for (size_t i = 0; i < nr; i++) {
		const struct frame_slot *slot =
			resolver_chains_frame_slot(r, user->generation, r->pcs[i]);
		uint32_t image;

		if (slot->ip == r->pcs[i] && slot->generation == user->generation)
			continue;
		m = space_find_near(user->root, r->pcs[i], m);
		image = m ? r->images.entries.at[m->image].number : DICT_NONE;
		if (image != DICT_NONE)
			dict_prefetch_frame(r->dict, image,
					    r->pcs[i] - m->start + m->pgoff);
	}
}

/* Makes the sample's address the innermost one, before the stack that was unwound from the
 * registers: a precise event can report another address than the registers contain
 * (chain_join_place()). If that is an earlier instruction of the same function, replaces the
 * first address of the stack; otherwise adds a frame. Returns 0 or -ENOMEM. */
static int add_place(struct resolver *r, const struct record *rec,
		     const struct resolver_found *at, size_t nr_pcs,
		     struct chain_walk *w)
{
	uint64_t ip = rec->sample.ip.v;

	if (at->cpu_mode == CPU_MODE_USER &&
	    (ip == r->pcs[0] ||
	     chain_is_skid(ip, r->pcs[0], nr_pcs > 1 ? r->pcs[1] : 0))) {
		r->pcs[0] = ip;
		return 0;
	}
	w->frames[w->nr] = resolver_leaf_frame(r, at, ip);
	return w->frames[w->nr++] == DICT_NONE ? -ENOMEM : 0;
}

/* Adds the user part of a stack, unwound from its registers, after the frames of the kernel.
 * Returns 0 or -ENOMEM. */
static int unwound_frames(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct chain_walk *w, bool *ret_truncated)
{
	bool whole, cut = false;
	size_t nr_pcs;

	*ret_truncated = true;
	if (w->nr == w->max)
		return 0;
	whole = resolver_unwind_stack(r, d, rec, at, w->max - w->nr, &nr_pcs);
	if (r->later)
		return -ENOMEM;
	if (nr_pcs && !w->nr && add_place(r, rec, at, nr_pcs, w))
		return -ENOMEM;
	w->cpu_mode = CPU_MODE_USER;
	ask_for_frames(r, at->user, nr_pcs);
	for (size_t i = 0; i < nr_pcs && !cut; i++) {
		cut = w->nr == r->max_frames;
		if (cut)
			break;
		w->frames[w->nr] = chain_frame(r, at, w, r->pcs[i], &cut);
		if (cut)
			break;
		if (w->frames[w->nr] == DICT_NONE)
			return -ENOMEM;
		w->nr++;
		r->nr_pcs = i + 1;
	}
	*ret_truncated = !whole || cut;
	return 0;
}

/* Finds the frames of a chain whose user part is in registers and a copy of the stack. Returns
 * 0 or -ENOMEM. */
static int unwound_chain(struct resolver *r, const struct decoder *d,
			 const struct record *rec, const struct resolver_found *at,
			 struct resolver_chain *c, struct chain_walk *w)
{
	bool truncated;

	if (walk_chain(r, d, &rec->sample, at, rec->sample.nr_chain, w))
		return -ENOMEM;
	truncated = w->cut || w->nr >= max_stack(d, rec);
	if (!w->has_user && unwound_frames(r, d, rec, at, w, &truncated))
		return -ENOMEM;
	r->chain_private = true;
	c->nr_inner = w->nr;
	c->path.node = truncated ? STACK_TRUNCATED : STACK_ROOT;
	return 0;
}

/* The part of a chain before the user callers. */
struct chain_inside {
	/* Position of the innermost frame in user space; nr_chain if there is no such frame. */
	uint64_t user;
	uint64_t words; /* addresses before it */
	bool is_odd;    /* the part contains markers that the kernel does not write */
};

static struct chain_inside look_inside(const struct decoder *d,
				       const struct record_sample *s)
{
	struct chain_inside in = { .user = s->nr_chain };

	for (uint64_t i = 0; i < s->nr_chain; i++) {
		uint64_t ip = decoder_chain_at(d, s, i);

		if (ip == PERF_CONTEXT_USER) {
			in.user = i + 1;
			break;
		}
		in.words += ip < PERF_CONTEXT_MAX;
		in.is_odd |= ip >= PERF_CONTEXT_MAX && ip != PERF_CONTEXT_KERNEL;
	}
	return in;
}

/* Looks up the innermost user address of a chain, which is the address that few samples share. */
static void look_for_user(struct resolver *r, const struct resolver_found *at,
			  uint64_t ip, struct resolver_chain *c)
{
	if (ip >= PERF_CONTEXT_MAX)
		return;
	c->user_ip = ip;
	c->user_mapping = resolver_mapping(r, at->user, ip);
}

/* Prefetches the memory for the frame of the innermost user address. */
static void ask_for_user(const struct resolver *r, const struct resolver_chain *c)
{
	const struct mapping *m = c->user_mapping;
	uint32_t image = m ? r->images.entries.at[m->image].number : DICT_NONE;

	if (image != DICT_NONE)
		dict_prefetch_frame(r->dict, image, c->user_ip - m->start + m->pgoff);
}

static struct callers_slot *callers_slot(const struct resolver *r, uint64_t key)
{
	return &r->callers[key & (CALLERS_CACHE - 1)];
}

/* Returns a key for the first `nr` words of a chain, which are all before the marker of user
 * space. The kernel has the same addresses in all processes. */
static uint64_t words_key(const struct decoder *d, const struct record_sample *s,
			  const struct resolver_found *at, uint64_t nr)
{
	uint64_t seed = at->kernel->generation;

	if (nr && decoder_chain_at(d, s, 0) != PERF_CONTEXT_KERNEL)
		seed = hash_quick(at->user->generation,
				  seed << 1 | (at->cpu_mode == CPU_MODE_USER));
	return nr ? hash_bytes(s->chain, nr * sizeof(uint64_t), seed) : 0;
}

/* Computes the key of the part before the callers. It is the same in many processes, except for
 * the addresses of the mappings, which the key does not contain. */
static void find_inner_key(const struct resolver *r, const struct decoder *d,
			   const struct record_sample *s,
			   const struct resolver_found *at,
			   const struct chain_inside *in, struct resolver_chain *c)
{
	const struct mapping *m = c->user_mapping;
	bool has_user = in->user < s->nr_chain;
	uint32_t image = m ? r->images.entries.at[m->image].number : DICT_NONE;

	c->inner_words = in->words + has_user;
	if (in->is_odd || (has_user && image == DICT_NONE) ||
	    (at->cpu_mode != CPU_MODE_USER && at->cpu_mode != CPU_MODE_KERNEL))
		return;
	c->inner_key = words_key(d, s, at, has_user ? in->user - 1 : s->nr_chain);
	if (has_user)
		c->inner_key =
			hash_quick(hash_quick(c->user_ip - m->start + m->pgoff, image),
				   c->inner_key);
}

/* Returns whether the first caller is not code. About half of the functions without frame
 * pointers use that register for other data, and then the kernel reads a wrong address, which
 * differs in nearly every sample, so that caching the callers is useless. */
static bool is_astray(struct resolver *r, const struct resolver_found *at, uint64_t ip,
		      const struct resolver_chain *c)
{
	const struct mapping *m = c->user_mapping;

	if (ip >= PERF_CONTEXT_MAX || !m || (ip >= m->start && ip < m->end))
		return false;
	return !resolver_mapping(r, at->user, ip);
}

/* Examines a chain: looks up its innermost user address, and computes one cache key for its
 * callers and one for the frames before them. The keys are separate because the same callers
 * occur again and again, with other innermost addresses and other work of the kernel. */
static void look_at_chain(struct resolver *r, const struct decoder *d,
			  const struct record_sample *s,
			  const struct resolver_found *at, struct resolver_chain *c)
{
	struct chain_inside in = look_inside(d, s);

	c->from = in.user + 1 < s->nr_chain ? in.user + 1 : s->nr_chain;
	if (in.user < s->nr_chain)
		look_for_user(r, at, decoder_chain_at(d, s, in.user), c);
	find_inner_key(r, d, s, at, &in, c);
	c->alone = c->from == s->nr_chain;
	/* The word is a marker instead of an address, so the callers are at another position than
	 * usual. */
	if (in.user < s->nr_chain &&
	    decoder_chain_at(d, s, in.user) >= PERF_CONTEXT_MAX)
		return;
	if (c->alone || is_astray(r, at, decoder_chain_at(d, s, c->from), c))
		return;
	c->callers_key =
		hash_bytes(s->chain + c->from * sizeof(uint64_t),
			   (s->nr_chain - c->from) * sizeof(uint64_t),
			   hash_quick(at->user->generation, at->kernel->generation));
	__builtin_prefetch(callers_slot(r, c->callers_key));
}

/* Returns the number of frames at which the kernel or the resolver truncates a stack. */
static uint32_t most_frames(const struct resolver *r, const struct decoder *d,
			    const struct record *rec)
{
	uint32_t most = max_stack(d, rec);

	return most < r->max_frames ? most : r->max_frames;
}

/* Returns the node of the callers, or DICT_NONE if it is not known, and the number of their
 * frames. */
static uint32_t known_callers(const struct resolver *r, const struct resolver_chain *c,
			      uint32_t *ret_nr)
{
	const struct callers_slot *slot = callers_slot(r, c->callers_key);

	*ret_nr = 0;
	if (!c->callers_key)
		return c->alone ? STACK_ROOT : STACK_TRUNCATED;
	if (slot->key != c->callers_key || slot->of)
		return DICT_NONE;
	*ret_nr = slot->nr;
	return slot->stack;
}

/* Returns a key for the callers by image and offset, which are the same in all processes of a
 * program: most callers with new addresses have occurred in another process before. Sets *ret_nr
 * to the number of frames up to the first address that is not code. Returns 0 if there is no
 * such key. */
static uint64_t find_callers_positions(struct resolver *r, const struct decoder *d,
				       const struct record_sample *s,
				       const struct resolver_found *at,
				       const struct resolver_chain *c, uint32_t *ret_nr)
{
	uint64_t positions[2 * CALLERS_MAX];
	const struct mapping *m = c->user_mapping;
	uint32_t nr = 0;

	if (s->nr_chain - c->from > CALLERS_MAX)
		return 0;
	for (uint64_t i = c->from; i < s->nr_chain; i++) {
		uint64_t ip = decoder_chain_at(d, s, i);
		uint32_t image;

		if (ip >= PERF_CONTEXT_MAX)
			return 0;
		if (!m || ip < m->start || ip >= m->end)
			m = resolver_mapping(r, at->user, ip);
		if (!m)
			break;
		image = r->images.entries.at[m->image].number;
		if (image == DICT_NONE)
			return 0;
		positions[2 * nr] = image;
		positions[2 * nr++ + 1] = ip - m->start + m->pgoff;
	}
	*ret_nr = nr;
	/* A complete chain and a truncated chain with equal frames need different keys. */
	return hash_bytes(positions, 2 * nr * sizeof(*positions),
			  s->nr_chain - c->from == nr);
}

/* If the addresses of the callers are new, reuses the stack of another process with the same
 * images and offsets. */
static void find_new_callers(struct resolver *r, const struct decoder *d,
			     const struct record_sample *s,
			     const struct resolver_found *at, struct resolver_chain *c)
{
	struct callers_slot *slot = callers_slot(r, c->callers_key);
	uint32_t nr, stack;

	if (!c->callers_key || slot->key == c->callers_key)
		return;
	c->positions_key = find_callers_positions(r, d, s, at, c, &nr);
	stack = c->positions_key ? stack_memo_get(&r->memo, c->positions_key)
				 : DICT_NONE;
	if (stack != DICT_NONE)
		*slot = (struct callers_slot){ .key = c->callers_key,
					       .stack = stack,
					       .nr = nr };
}

void resolver_chain_ask(struct resolver *r, const struct decoder *d,
			const struct record *rec, const struct resolver_found *at,
			struct resolver_chain *c)
{
	uint32_t nr = 0, callers = DICT_NONE;

	c->asked = true;
	find_new_callers(r, d, &rec->sample, at, c);
	if (c->inner_key)
		callers = known_callers(r, c, &nr);
	if (callers == DICT_NONE || c->inner_words + nr >= most_frames(r, d, rec)) {
		ask_for_user(r, c);
		return;
	}
	c->memo_key = hash_quick(c->inner_key, callers);
	stack_memo_prefetch(&r->memo, c->memo_key);
}

/* Finds the frames of a recorded chain. Returns 0 or -ENOMEM. */
static int recorded_chain(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct resolver_chain *c, struct chain_walk *w)
{
	const struct record_sample *s = &rec->sample;
	uint32_t most_shared = most_frames(r, d, rec);
	struct callers_slot *slot = callers_slot(r, c->callers_key);
	bool callers;

	if (walk_chain(r, d, s, at, c->from, w))
		return -ENOMEM;
	c->nr_inner = w->nr;
	callers = c->callers_key && w->nr && !w->cut;
	if (callers && slot->key == c->callers_key && w->nr + slot->nr < most_shared) {
		c->callers_of = slot->of;
		c->path.node = slot->stack;
		dict_prefetch_callee(r->dict, slot->stack);
		return 0;
	}
	if (!w->cut && walk_chain(r, d, s, at, s->nr_chain, w))
		return -ENOMEM;
	c->nr_outer = w->nr - c->nr_inner;
	c->path.node =
		w->cut || w->nr >= max_stack(d, rec) ? STACK_TRUNCATED : STACK_ROOT;
	c->keep_callers = callers && w->nr < most_shared;
	if (c->keep_callers)
		*slot = (struct callers_slot){ .key = c->callers_key,
					       .stack = DICT_NONE,
					       .nr = c->nr_outer,
					       .of = c };
	return 0;
}

/* Uses only the leaf, because the chain is empty, or only has markers as the kernel cannot walk
 * stacks on this machine (s390x). Returns 0 or -ENOMEM. */
static int leaf_alone(struct resolver *r, const struct record *rec,
		      const struct resolver_found *at, struct resolver_chain *c,
		      struct chain_walk *w)
{
	w->frames[0] = resolver_leaf_frame(r, at, rec->sample.ip.v);
	w->nr = 1;
	c->nr_inner = 1;
	c->path.node = STACK_ROOT;
	r->chain_private = true;
	return w->frames[0] == DICT_NONE ? -ENOMEM : 0;
}

void resolver_chain_look(struct resolver *r, const struct decoder *d,
			 const struct record *rec, const struct resolver_found *at,
			 struct resolver_chain *c)
{
	const struct record_sample *s = &rec->sample;

	*c = (struct resolver_chain){ .stack = DICT_NONE, .callers = DICT_NONE };
	if (s->nr_chain && !resolver_can_unwind(r, s))
		look_at_chain(r, d, s, at, c);
}

/* Returns the number of frames that the stack may have. Sets the user whose budget it uses. */
static uint32_t chain_limit(struct resolver *r, const struct record *rec,
			    const struct resolver_found *at, struct resolver_chain *c)
{
	if (!stack_budget_has_limit(&r->stack_budget))
		return r->max_frames;
	c->user = process_user(at->process, r->ops->process_user, r->ops->ctx);
	return stack_budget_frames(&r->stack_budget, c->user, rec->id.time_ns,
				   r->max_frames);
}

/* Charges the frames that the walk found; `known` and `steps` are the numbers of frames and steps
 * before it. */
static void chain_charge(struct resolver *r, const struct resolver_chain *c,
			 const struct chain_walk *w, size_t known, uint64_t steps)
{
	if (!stack_budget_has_limit(&r->stack_budget))
		return;
	stack_budget_spend(&r->stack_budget, c->user,
			   (uint64_t)w->nr * STACK_BUDGET_STEP +
				   (r->unwind_steps - steps) / STACK_BUDGET_OPS +
				   (r->dict->frames.nr - known) * STACK_BUDGET_NEW);
}

static int find_frames(struct resolver *r, const struct decoder *d,
		       const struct record *rec, const struct resolver_found *at,
		       struct resolver_chain *c)
{
	struct chain_walk w = { .chain = c,
				.cpu_mode = (enum cpu_mode)at->cpu_mode,
				.frames = r->chain + r->nr_chain,
				.max = chain_limit(r, rec, at, c) };
	size_t known = r->dict->frames.nr;
	uint64_t steps = r->unwind_steps;
	int result = 0;

	r->chain_private = false;
	if (resolver_can_unwind(r, &rec->sample))
		result = unwound_chain(r, d, rec, at, c, &w);
	else if (rec->sample.nr_chain)
		result = recorded_chain(r, d, rec, at, c, &w);
	if (!result && !w.nr)
		result = leaf_alone(r, rec, at, c, &w);
	if (result)
		return result;
	chain_charge(r, c, &w, known, steps);
	r->nr_chain += w.nr;
	c->path.frames = w.frames + c->nr_inner;
	c->path.left = c->nr_outer;
	c->keep = !r->chain_private && c->inner_key && c->nr_inner == c->inner_words;
	return 0;
}

int resolver_chain_frames(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct resolver_chain *c)
{
	if (!c->asked)
		resolver_chain_ask(r, d, rec, at, c);
	/* Look for the same stack in the cache: most samples have the stack of an earlier
	 * sample. */
	if (c->memo_key)
		c->stack = stack_memo_get(&r->memo, c->memo_key);
	return c->stack == DICT_NONE ? find_frames(r, d, rec, at, c) : 0;
}

/* Continues with the frames inside the callers. */
static void go_inside(struct resolver_chain *c)
{
	c->callers = c->path.node;
	c->inside = true;
	c->path.frames -= c->nr_inner;
	c->path.left = c->nr_inner;
}

bool resolver_chain_step(const struct resolver *r, struct resolver_chain *c)
{
	const struct resolver_chain *of = c->callers_of;
	bool stopped;

	if (c->stack != DICT_NONE)
		return false;
	if (of && of->callers == DICT_NONE)
		return !of->stopped;
	if (of)
		c->path.node = of->callers;
	c->callers_of = NULL;
	if (dict_path_step(r->dict, &c->path))
		return true;
	stopped = c->path.left;
	c->stopped = stopped;
	if (stopped || c->inside)
		return false;
	go_inside(c);
	return true;
}

static void resolver_chains_make_nodes(struct resolver *r, struct dict_path *path)
{
	while (path->left && path->node != DICT_NONE)
		path->node =
			dict_stack(r->dict, path->node, path->frames[--path->left]);
}

/* Stores the result in the caches. Meanwhile another sample of the group can have replaced the
 * slot of the callers. */
static void resolver_chains_keep(struct resolver *r, const struct resolver_chain *c)
{
	struct callers_slot *callers = callers_slot(r, c->callers_key);

	if (c->keep_callers && callers->of == c) {
		callers->stack = c->callers;
		callers->of = NULL;
	}
	if (c->keep_callers && c->positions_key && c->callers != DICT_NONE)
		stack_memo_put(&r->memo, c->positions_key, c->callers);
	if (c->stack == DICT_NONE)
		callers->key = 0;
	else if (c->keep)
		stack_memo_put(&r->memo, hash_quick(c->inner_key, c->callers),
			       c->stack);
}

uint32_t resolver_chain_stack(struct resolver *r, struct resolver_chain *c)
{
	size_t known = r->dict->stacks.nr;

	if (c->stack != DICT_NONE)
		return c->stack;
	if (c->callers_of)
		c->path.node = c->callers_of->callers;
	if (!c->inside) {
		resolver_chains_make_nodes(r, &c->path);
		go_inside(c);
	}
	resolver_chains_make_nodes(r, &c->path);
	c->stack = c->path.node;
	if (stack_budget_has_limit(&r->stack_budget))
		stack_budget_spend(&r->stack_budget, c->user,
				   (r->dict->stacks.nr - known) * STACK_BUDGET_NEW);
	resolver_chains_keep(r, c);
	return c->stack;
}
