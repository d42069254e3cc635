/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/resolver_ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/containers/vec.h"
#include "base/signals.h"
#include "resolve/replay/resolver_priv.h"

enum {
	THREADS_MAX = 16,
	SLICE = UNWIND_TOGETHER, /* stacks that a thread unwinds together */
	SLICES = RESOLVER_AHEAD_MAX / SLICE,
	/* Iterations to wait actively: a slice needs some 20 us, so this is cheaper than
	 * sleeping. */
	PATIENCE = 200
};

/* The unwind table of an image table entry. */
struct known {
	const struct unwind_table *table; /* NULL: none */
	bool is;
	bool noted; /* it becomes known at the next resolver_ahead_start() */
};

struct fresh {
	uint32_t entry;
	const struct unwind_table *table;
};

struct resolver_ahead_job {
	const struct record *rec; /* NULL: nothing to unwind */
	struct ahead_stack stack;
};

struct slice {
	struct resolver_ahead_job jobs[SLICE];
	/* CHAIN_MAX program counters for each job; NULL before the first use. */
	uint64_t *pcs;
	_Atomic(bool) done;
};

struct resolver_ahead {
	struct resolver *r;
	const struct decoder *decoder;
	/* By entry of the image table; not changed while threads work. */
	VEC(struct known) known;
	VEC(struct fresh) fresh;
	struct slice slices[SLICES];
	size_t nr; /* samples added */
	/* Lower half: the next slice that no thread has begun. From NR_SHIFT on: the number of
	 * slices. */
	_Atomic(uint64_t) next;
	_Atomic(bool) waits; /* the caller waits for `finished` */
	pthread_mutex_t lock;
	pthread_cond_t begun, finished;
	uint64_t generation; /* guarded by `lock`; incremented when there is work */
	bool quit;           /* guarded by `lock` */
	pthread_t threads[THREADS_MAX];
	unsigned int nr_threads;
};

enum {
	NR_SHIFT = 32
};

/* ---- one stack ---- */

struct resolver_ahead_find {
	const struct resolver_ahead *a;
	const struct space_node *root;
	const struct mapping *last; /* the last mapping found, or NULL */
	bool unknown;
};

/* Like the lookup in resolver_unwind.c, but creates nothing. */
static enum unwind_code resolver_ahead_find_known(void *ctx, uint64_t pc,
						  const struct unwind_table **ret_table,
						  uint64_t *ret_offset)
{
	struct resolver_ahead_find *f = ctx;
	const struct mapping *m = space_find_near(f->root, pc, f->last);
	const struct known *known;

	if (!m)
		return UNWIND_CODE_NOWHERE;
	f->last = m;
	known = m->image < f->a->known.nr ? &f->a->known.at[m->image] : NULL;
	if (!known || !known->is) {
		f->unknown = true;
		return UNWIND_CODE_NOWHERE;
	}
	*ret_table = known->table;
	*ret_offset = pc - m->start + m->pgoff;
	return known->table ? UNWIND_CODE_WITH_TABLE : UNWIND_CODE_WITHOUT;
}

/* Returns NULL: code without rules is left to the resolver, which can read the code. */
static struct unwind_bare *
resolver_ahead_bare(void *ctx, struct unwind_bare_ops *ret_code, uint64_t *ret_space)
{
	struct resolver_ahead_find *f = ctx;

	(void)ret_code;
	(void)ret_space;
	f->unknown |= f->a->r->unwind.code != NULL;
	return NULL;
}

/* The arguments of unwind_stacks() for a slice. */
struct resolver_ahead_work {
	struct unwind_job jobs[SLICE];
	struct resolver_ahead_job *of[SLICE];
	struct resolver_ahead_find finds[SLICE];
	struct unwind_ops ops[SLICE];
	struct unwind_window windows[SLICE];
	struct unwind_regs regs[SLICE];
	size_t nr;
};

static void add_work(const struct resolver_ahead *a, struct slice *slice,
		     struct resolver_ahead_job *job, struct resolver_ahead_work *w)
{
	size_t i = w->nr;
	const struct unwind_arch *arch = resolver_moment(a->r, a->decoder, job->rec,
							 &w->windows[i], &w->regs[i]);

	if (!arch)
		return;
	w->finds[i] = (struct resolver_ahead_find){ .a = a, .root = job->stack.root };
	w->ops[i] = (struct unwind_ops){ .find = resolver_ahead_find_known,
					 .bare = resolver_ahead_bare,
					 .ctx = &w->finds[i] };
	w->jobs[i] = (struct unwind_job){
		.moment = { arch, &w->windows[i], &w->ops[i], &w->regs[i], NULL },
		.pcs = slice->pcs + i * CHAIN_MAX,
		/* One frame more than the maximum, to detect that the stack is longer. */
		.max = a->r->max_frames < CHAIN_MAX ? a->r->max_frames + 1 : CHAIN_MAX,
	};
	w->of[i] = job;
	w->nr++;
}

/* Unwinds the stacks of a slice. If memory is short, they are left to the resolver. */
static void unwind_slice(const struct resolver_ahead *a, struct slice *slice)
{
	struct resolver_ahead_work w;

	w.nr = 0;
	if (!slice->pcs)
		slice->pcs = malloc(SLICE * CHAIN_MAX * sizeof(*slice->pcs));
	for (size_t i = 0; i < SLICE && slice->pcs; i++)
		if (slice->jobs[i].rec)
			add_work(a, slice, &slice->jobs[i], &w);
	unwind_stacks(w.jobs, w.nr);
	for (size_t i = 0; i < w.nr; i++) {
		struct ahead_stack *stack = &w.of[i]->stack;

		stack->found = !w.finds[i].unknown;
		stack->pcs = w.jobs[i].pcs;
		stack->nr = w.jobs[i].nr;
		stack->end = w.jobs[i].end;
	}
}

/* ---- threads ---- */

static void do_slice(struct resolver_ahead *a, struct slice *slice)
{
	unwind_slice(a, slice);
	slice->done = true;
	if (!a->waits)
		return;
	pthread_mutex_lock(&a->lock);
	pthread_cond_signal(&a->finished);
	pthread_mutex_unlock(&a->lock);
}

/* Processes the next slice. Returns false if all slices have been begun. */
static bool do_next(struct resolver_ahead *a)
{
	uint64_t next = atomic_load(&a->next);

	do {
		if ((uint32_t)next >= next >> NR_SHIFT)
			return false;
	} while (!atomic_compare_exchange_weak(&a->next, &next, next + 1));
	do_slice(a, &a->slices[(uint32_t)next]);
	return true;
}

/* Waits for more work. Returns false if the thread has to end. */
static bool wait_for_work(struct resolver_ahead *a, uint64_t *generation)
{
	bool go_on;

	pthread_mutex_lock(&a->lock);
	while (a->generation == *generation && !a->quit)
		pthread_cond_wait(&a->begun, &a->lock);
	*generation = a->generation;
	go_on = !a->quit;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

static void *resolver_ahead_work(void *arg)
{
	struct resolver_ahead *a = arg;
	uint64_t generation = 0;

	while (wait_for_work(a, &generation))
		while (do_next(a))
			;
	return NULL;
}

static void begin_threads(struct resolver_ahead *a, unsigned int nr)
{
	sigset_t before;

	signals_block_sent(&before);
	while (a->nr_threads < nr && a->nr_threads < THREADS_MAX &&
	       !pthread_create(&a->threads[a->nr_threads], NULL, resolver_ahead_work,
			       a))
		a->nr_threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int resolver_ahead_new(struct resolver *r, const struct decoder *d,
		       unsigned int nr_threads, struct resolver_ahead **ret_ahead)
{
	struct resolver_ahead *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->r = r;
	a->decoder = d;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->begun, NULL);
	pthread_cond_init(&a->finished, NULL);
	begin_threads(a, nr_threads - 1);
	if (nr_threads > 1 && !a->nr_threads) {
		resolver_ahead_free(a);
		return -EAGAIN;
	}
	r->ahead = a;
	*ret_ahead = a;
	return 0;
}

void resolver_ahead_free(struct resolver_ahead *a)
{
	if (!a)
		return;
	a->r->ahead = NULL;
	a->next = 0;
	pthread_mutex_lock(&a->lock);
	a->quit = true;
	pthread_cond_broadcast(&a->begun);
	pthread_mutex_unlock(&a->lock);
	for (unsigned int i = 0; i < a->nr_threads; i++)
		pthread_join(a->threads[i], NULL);
	pthread_cond_destroy(&a->begun);
	pthread_cond_destroy(&a->finished);
	pthread_mutex_destroy(&a->lock);
	for (size_t i = 0; i < SLICES; i++)
		free(a->slices[i].pcs);
	vec_done(&a->known);
	vec_done(&a->fresh);
	free(a);
}

/* ---- the resolver's side ---- */

void resolver_ahead_note(struct resolver_ahead *a, uint32_t entry,
			 const struct unwind_table *table)
{
	enum image_kind kind = a->r->images.entries.at[entry].image.kind;
	struct known *known = entry < a->known.nr ? &a->known.at[entry] : NULL;

	/* An entry of anonymous memory can be reused for other memory, so it is not noted. */
	if (!known || known->noted || (kind != IMAGE_FILE && kind != IMAGE_VDSO))
		return;
	known->noted = vec_push(&a->fresh, (struct fresh){ entry, table });
}

void resolver_ahead_forget(struct resolver_ahead *a)
{
	a->fresh.nr = 0;
	for (size_t i = 0; i < a->known.nr; i++)
		a->known.at[i] = (struct known){ 0 };
}

static struct resolver_ahead_job *job_at(struct resolver_ahead *a, size_t at)
{
	return &a->slices[at / SLICE].jobs[at % SLICE];
}

void resolver_ahead_add(struct resolver_ahead *a, const struct record *rec,
			const struct resolver_found *found)
{
	if (a->nr == RESOLVER_AHEAD_MAX)
		return;
	*job_at(a, a->nr++) = (struct resolver_ahead_job){
		.rec = resolver_can_unwind(a->r, &rec->sample) ? rec : NULL,
		.stack = { .root = found->user->root },
	};
}

/* Learns the tables that earlier samples met, and makes room for new entries. */
static void resolver_ahead_learn(struct resolver_ahead *a)
{
	size_t nr = a->r->images.entries.nr;

	for (size_t i = 0; i < a->fresh.nr; i++) {
		struct known *known = &a->known.at[a->fresh.at[i].entry];

		known->table = a->fresh.at[i].table;
		known->is = true;
	}
	a->fresh.nr = 0;
	while (a->known.nr < nr && vec_push(&a->known, (struct known){ 0 }))
		;
}

void resolver_ahead_start(struct resolver_ahead *a)
{
	size_t nr_slices = (a->nr + SLICE - 1) / SLICE;

	resolver_ahead_learn(a);
	for (size_t i = a->nr; i < nr_slices * SLICE; i++)
		job_at(a, i)->rec = NULL;
	a->nr = 0;
	for (size_t i = 0; i < nr_slices; i++)
		a->slices[i].done = false;
	a->next = (uint64_t)nr_slices << NR_SHIFT;
	/* The caller processes one slice itself. */
	if (nr_slices < 2 || !a->nr_threads)
		return;
	pthread_mutex_lock(&a->lock);
	a->generation++;
	pthread_cond_broadcast(&a->begun);
	pthread_mutex_unlock(&a->lock);
}

static void wait_for_slice(struct resolver_ahead *a, struct slice *slice)
{
	for (int i = 0; i < PATIENCE && !slice->done; i++)
		__asm__ volatile("" ::: "memory");
	if (slice->done)
		return;
	pthread_mutex_lock(&a->lock);
	a->waits = true;
	while (!slice->done)
		pthread_cond_wait(&a->finished, &a->lock);
	a->waits = false;
	pthread_mutex_unlock(&a->lock);
}

const struct ahead_stack *resolver_ahead_get(struct resolver_ahead *a, size_t at)
{
	struct slice *slice = &a->slices[at / SLICE];
	struct resolver_ahead_job *job = job_at(a, at);

	/* Do later slices instead of waiting for another thread. */
	while (!slice->done && do_next(a))
		;
	wait_for_slice(a, slice);
	return &job->stack;
}
