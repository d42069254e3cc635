/* SPDX-License-Identifier: GPL-2.0-or-later */
/* resolver_chains.c - call chains of samples, for resolver_samples.c: the frames of a chain, and
 * behind them the nodes of its stack.  A group of samples goes through the steps together. */
#include <errno.h>

#include "base/containers/hash.h"
#include "resolve/replay/resolver_priv.h"

enum {
	CALLERS_MAX = 128 /* that are looked up by their places */
};

/* The markers in a chain: enum perf_callchain_context of <linux/perf_event.h>.  false: it
 * is none, but what a program had in its frame pointer. */
static bool world_of_marker(uint64_t marker, enum world *ret_world)
{
	switch (marker) {
	case PERF_CONTEXT_KERNEL:
		*ret_world = WORLD_KERNEL;
		return true;
	case PERF_CONTEXT_USER:
	case (uint64_t)-640: /* PERF_CONTEXT_USER_DEFERRED, of Linux 6.19 */
		*ret_world = WORLD_USER;
		return true;
	case PERF_CONTEXT_GUEST_KERNEL:
		*ret_world = WORLD_GUEST_KERNEL;
		return true;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_USER:
		*ret_world = WORLD_GUEST_USER;
		return true;
	case PERF_CONTEXT_HV:
		*ret_world = WORLD_HYPERVISOR;
		return true;
	default:
		return false;
	}
}

/* How far the frames of a chain were found. */
struct chain_walk {
	const struct resolver_chain *chain;
	enum world world;
	uint64_t at;      /* position in the chain */
	uint32_t *frames; /* leaf first */
	uint32_t nr;
	bool cut;      /* it goes on, but we cannot say how */
	bool has_user; /* there are callers in user space */
};

enum frame_result {
	FRAME_FOUND,
	FRAME_UNMAPPED, /* in no mapping: not kept, unless it is the leaf */
	FRAME_NO_MEMORY
};

static struct frame_slot *resolver_chains_frame_slot(const struct resolver *r,
						     uint64_t generation, uint64_t ip)
{
	return &r->frames[hash_pair(ip, generation) & (FRAME_CACHE - 1)];
}

/* An address' frame, behind a cache.  What lies in no mapping becomes a frame only as a
 * leaf: in a chain it is where the walk went wrong, different in every process. */
static enum frame_result find_frame(struct resolver *r, const struct resolver_found *at,
				    uint64_t ip, enum world world,
				    struct frame_slot **ret_slot)
{
	const struct proc_version *version = resolver_version(r, at, world);
	uint64_t generation = version->generation;
	struct frame_slot *slot = resolver_chains_frame_slot(r, generation, ip);
	const struct mapping *m;

	*ret_slot = slot;
	if (slot->ip == ip && slot->generation == generation)
		return FRAME_FOUND;
	m = space_find(version->root, ip);
	if (!m && world == WORLD_USER)
		return FRAME_UNMAPPED;
	*slot = (struct frame_slot){ .generation = generation,
				     .ip = ip,
				     .frame = resolver_frame(r, at, ip, world, m) };
	if (slot->frame != DICT_NONE)
		return FRAME_FOUND;
	slot->generation = 0;
	return FRAME_NO_MEMORY;
}

/* The frame of the next address of a chain of `nr` so far, or DICT_NONE; *ret_cut: a return
 * address outside every executable mapping was no return address, code without frame
 * pointers used the register otherwise. */
static uint32_t chain_frame(struct resolver *r, const struct resolver_found *at,
			    const struct chain_walk *w, uint64_t ip, bool *ret_cut)
{
	const struct resolver_chain *c = w->chain;
	struct frame_slot *slot;
	enum frame_result found;

	/* Few samples share it, and its place in the dict is on its way: the cache is for others. */
	if (c->user_mapping && c->user_ip == ip && w->world == WORLD_USER) {
		*ret_cut = false;
		return resolver_frame(r, at, ip, WORLD_USER, c->user_mapping);
	}
	found = find_frame(r, at, ip, w->world, &slot);
	*ret_cut = found == FRAME_UNMAPPED && w->nr;
	if (found == FRAME_FOUND)
		return slot->frame;
	if (found == FRAME_NO_MEMORY || w->nr)
		return DICT_NONE;
	r->chain_private = true;
	return resolver_frame(r, at, ip, w->world, NULL);
}

/* The frames of a chain from where the walk is up to a position.  0 or -ENOMEM. */
static int walk_chain(struct resolver *r, const struct decoder *d,
		      const struct record_sample *s, const struct resolver_found *at,
		      uint64_t to, struct chain_walk *w)
{
	for (; w->at < to; w->at++) {
		uint64_t ip = decoder_chain_at(d, s, w->at);

		if (ip >= PERF_CONTEXT_MAX) {
			w->cut = !world_of_marker(ip, &w->world);
			if (w->cut)
				break;
			continue;
		}
		w->cut = w->nr == r->max_frames;
		w->has_user |= w->world == WORLD_USER;
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

/* Has the memory fetched that frames of the unwound stack are looked for in. */
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

/* The user's part of a stack, from its registers, behind the frames of the kernel.  0 or
 * -ENOMEM. */
static int unwound_frames(struct resolver *r, const struct decoder *d,
			  const struct record *rec, const struct resolver_found *at,
			  struct chain_walk *w, bool *ret_truncated)
{
	bool whole, cut = false;
	size_t nr_pcs;

	*ret_truncated = true;
	if (w->nr == r->max_frames)
		return 0;
	whole = resolver_unwind_stack(r, d, rec, at, r->max_frames - w->nr, &nr_pcs);
	if (r->later)
		return -ENOMEM;
	/* An event that is precise is not where the registers are from. */
	if (nr_pcs && at->world == WORLD_USER)
		r->pcs[0] = rec->sample.ip.v;
	w->world = WORLD_USER;
	ask_for_frames(r, at->user, nr_pcs);
	for (size_t i = 0; i < nr_pcs && !cut; i++) {
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

/* The same where the user's part is in registers and a copy of the stack.  0 or -ENOMEM. */
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

/* What a chain has in front of the callers in user space. */
struct chain_inside {
	uint64_t
		user; /* position of the innermost frame in user space; the end: there is none */
	uint64_t words; /* addresses in front of it */
	bool is_odd;    /* with other markers than the kernel's */
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

/* Of a chain's addresses the innermost one in user space is that which few samples share. */
static void look_for_user(struct resolver *r, const struct resolver_found *at,
			  uint64_t ip, struct resolver_chain *c)
{
	if (ip >= PERF_CONTEXT_MAX)
		return;
	c->user_ip = ip;
	c->user_mapping = resolver_mapping(r, at->user, ip);
}

/* Has the memory fetched in which that frame is looked for. */
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

/* Of the first `nr` words of a chain, all of them in front of the marker of user space.  The kernel is
 * where it is for all processes. */
static uint64_t words_key(const struct decoder *d, const struct record_sample *s,
			  const struct resolver_found *at, uint64_t nr)
{
	uint64_t seed = at->kernel->generation;

	if (nr && decoder_chain_at(d, s, 0) != PERF_CONTEXT_KERNEL)
		seed = hash_quick(at->user->generation,
				  seed << 1 | (at->world == WORLD_USER));
	return nr ? hash_bytes(s->chain, nr * sizeof(uint64_t), seed) : 0;
}

/* What is in front of the callers is the same in many processes, but for where these have their
 * mappings. */
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
	    (at->world != WORLD_USER && at->world != WORLD_KERNEL))
		return;
	c->inner_key = words_key(d, s, at, has_user ? in->user - 1 : s->nr_chain);
	if (has_user)
		c->inner_key =
			hash_quick(hash_quick(c->user_ip - m->start + m->pgoff, image),
				   c->inner_key);
}

/* Whether the first caller is no code: the innermost function uses the register for something else,
 * as half of those without frame pointers do.  That is another number each time. */
static bool is_astray(struct resolver *r, const struct resolver_found *at, uint64_t ip,
		      const struct resolver_chain *c)
{
	const struct mapping *m = c->user_mapping;

	if (ip >= PERF_CONTEXT_MAX || !m || (ip >= m->start && ip < m->end))
		return false;
	return !resolver_mapping(r, at->user, ip);
}

/* The callers of that frame are the same again and again, under other addresses and other work of
 * the kernel. */
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
	/* A marker in its place: its callers are elsewhere than others'. */
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

/* Frames that a stack may have before its root is not known. */
static uint32_t most_frames(const struct resolver *r, const struct decoder *d,
			    const struct record *rec)
{
	uint32_t most = max_stack(d, rec);

	return most < r->max_frames ? most : r->max_frames;
}

/* The callers as a node, as far as they are known, and the number of their frames. */
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

/* The callers by image and offset, which are the same in all processes of a program: most of these
 * are met once, and have been so before.  The key, and the number of frames up to where the chain
 * leads to no code; 0: they are no such. */
static uint64_t find_callers_places(struct resolver *r, const struct decoder *d,
				    const struct record_sample *s,
				    const struct resolver_found *at,
				    const struct resolver_chain *c, uint32_t *ret_nr)
{
	uint64_t places[2 * CALLERS_MAX];
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
		places[2 * nr] = image;
		places[2 * nr++ + 1] = ip - m->start + m->pgoff;
	}
	*ret_nr = nr;
	/* With the same frames it may be cut or not. */
	return hash_bytes(places, 2 * nr * sizeof(*places),
			  s->nr_chain - c->from == nr);
}

/* Callers whose addresses are new: those that other processes had at the same places are theirs. */
static void find_new_callers(struct resolver *r, const struct decoder *d,
			     const struct record_sample *s,
			     const struct resolver_found *at, struct resolver_chain *c)
{
	struct callers_slot *slot = callers_slot(r, c->callers_key);
	uint32_t nr, stack;

	if (!c->callers_key || slot->key == c->callers_key)
		return;
	c->places_key = find_callers_places(r, d, s, at, c, &nr);
	stack = c->places_key ? stack_memo_get(&r->memo, c->places_key) : DICT_NONE;
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

/* 0 or -ENOMEM. */
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

/* Markers only: the kernel cannot walk here (s390x).  Or no chain at all. */
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

static int find_frames(struct resolver *r, const struct decoder *d,
		       const struct record *rec, const struct resolver_found *at,
		       struct resolver_chain *c)
{
	struct chain_walk w = { .chain = c,
				.world = (enum world)at->world,
				.frames = r->chain + r->nr_chain };
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
	/* Most samples have a stack that another one had. */
	if (c->memo_key)
		c->stack = stack_memo_get(&r->memo, c->memo_key);
	return c->stack == DICT_NONE ? find_frames(r, d, rec, at, c) : 0;
}

/* Behind the callers' frames come the others. */
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

/* Other samples may have taken the slot meanwhile. */
static void resolver_chains_keep(struct resolver *r, const struct resolver_chain *c)
{
	struct callers_slot *callers = callers_slot(r, c->callers_key);

	if (c->keep_callers && callers->of == c) {
		callers->stack = c->callers;
		callers->of = NULL;
	}
	if (c->keep_callers && c->places_key && c->callers != DICT_NONE)
		stack_memo_put(&r->memo, c->places_key, c->callers);
	if (c->stack == DICT_NONE)
		callers->key = 0;
	else if (c->keep)
		stack_memo_put(&r->memo, hash_quick(c->inner_key, c->callers),
			       c->stack);
}

uint32_t resolver_chain_stack(struct resolver *r, struct resolver_chain *c)
{
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
	resolver_chains_keep(r, c);
	return c->stack;
}
