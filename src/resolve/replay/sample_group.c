/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/sample_group.h"

#include <errno.h>
#include <stdlib.h>

#include "resolve/replay/resolver_ahead.h"
#include "resolve/replay/resolver_priv.h"

enum {
	/* Samples that go through the steps together: their data fits into a CPU cache. */
	TOGETHER = 32
};

_Static_assert((int)SAMPLE_GROUP_MAX <= (int)RESOLVER_AHEAD_MAX,
	       "a group is unwound ahead as a whole");

/* State of a sample of the group. */
struct group_step {
	struct resolver_found found;
	struct resolver_chain chain;
	bool is_deferred;
};

int sample_group_open(struct sample_group *g, struct resolver *r,
		      const struct decoder *d, const struct sample_sink *sink,
		      size_t max)
{
	g->resolver = r;
	g->decoder = d;
	g->sink = *sink;
	g->max = g->nr_room = max;
	g->samples = calloc(max, sizeof(*g->samples));
	g->steps = calloc(max, sizeof(*g->steps));
	return g->samples && g->steps ? 0 : -ENOMEM;
}

int sample_group_unwind_ahead(struct sample_group *g, unsigned int nr_threads)
{
	return resolver_ahead_new(g->resolver, g->decoder, nr_threads, &g->ahead);
}

void sample_group_forget_tables(struct sample_group *g)
{
	if (g->ahead)
		resolver_ahead_forget(g->ahead);
}

void sample_group_done(struct sample_group *g)
{
	resolver_ahead_free(g->ahead);
	for (size_t i = 0; g->samples && i < g->nr_room; i++)
		buf_done(&g->samples[i].chain);
	free(g->samples);
	free(g->steps);
	*g = (struct sample_group){ 0 };
}

/* Finds the threads and address spaces of the samples, and prefetches data for the next steps.
 * On an error, reduces *nr to the samples found. Returns 0 or -ENOMEM. */
static int find_samples(struct sample_group *g, size_t *nr)
{
	for (size_t i = 0; i < *nr; i++) {
		const struct record *rec = &g->samples[i].rec;

		if (resolver_find(g->resolver, rec, &g->steps[i].found)) {
			*nr = i;
			return -ENOMEM;
		}
		if (g->ahead)
			resolver_ahead_add(g->ahead, rec, &g->steps[i].found);
	}
	return 0;
}

/* ---- one by one ---- */

/* Passes sample `at` to the sink; `result` is the result of resolver_finish(). */
static int give_one(struct sample_group *g, size_t at, int result)
{
	if (result == -EAGAIN)
		return g->sink.defer(g->sink.ctx, at);
	return result ? result : g->sink.take(g->sink.ctx, at, at + 1);
}

static int resolve_sequentially(struct sample_group *g, size_t from, size_t to)
{
	int result = 0;

	for (size_t i = from; i < to && !result; i++) {
		struct grouped_sample *s = &g->samples[i];

		result = give_one(g, i,
				  resolver_finish(g->resolver, g->decoder, &s->rec,
						  &g->steps[i].found, &s->sample));
	}
	return result;
}

/* Resolves samples without callers, in one step. */
static int resolve_leaves(struct sample_group *g, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (resolver_finish_leaf(g->resolver, &g->samples[i].rec,
					 &g->steps[i].found, &g->samples[i].sample))
			return -ENOMEM;
	return g->sink.take(g->sink.ctx, from, to);
}

/* ---- step by step ---- */

static void look_at_chains(struct sample_group *g, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		resolver_chain_look(g->resolver, g->decoder, &g->samples[i].rec,
				    &g->steps[i].found, &g->steps[i].chain);
	for (size_t i = from; i < to; i++)
		resolver_chain_ask(g->resolver, g->decoder, &g->samples[i].rec,
				   &g->steps[i].found, &g->steps[i].chain);
}

/* Begins samples from `from` on while there is room. *ret_to: the first that was not begun. */
static int begin_chains(struct sample_group *g, size_t from, size_t to, size_t *ret_to)
{
	int result = 0;

	for (; from < to && resolver_has_room(g->resolver) && !result; from++) {
		struct grouped_sample *s = &g->samples[from];
		struct group_step *step = &g->steps[from];

		result = resolver_begin(g->resolver, g->decoder, &s->rec, &step->found,
					&step->chain, &s->sample);
		step->is_deferred = result == -EAGAIN;
		if (step->is_deferred)
			result = g->sink.defer(g->sink.ctx, from);
	}
	*ret_to = from;
	return result;
}

static void step_chains(struct sample_group *g, size_t from, size_t to)
{
	struct resolver_chain *waiting[TOGETHER];
	size_t nr = 0, left;

	for (; from < to; from++)
		if (!g->steps[from].is_deferred &&
		    g->steps[from].chain.stack == DICT_NONE)
			waiting[nr++] = &g->steps[from].chain;
	for (; nr; nr = left) {
		left = 0;
		for (size_t i = 0; i < nr; i++)
			if (resolver_chain_step(g->resolver, waiting[i]))
				waiting[left++] = waiting[i];
	}
}

static int end_chains(struct sample_group *g, size_t from, size_t to)
{
	for (; from < to; from++) {
		struct sample *sample = &g->samples[from].sample;

		if (g->steps[from].is_deferred)
			continue;
		sample->stack =
			resolver_chain_stack(g->resolver, &g->steps[from].chain);
		if (sample->stack == DICT_NONE)
			return -ENOMEM;
	}
	resolver_chains_end(g->resolver);
	return 0;
}

/* Passes the samples that are not deferred to the sink. */
static int take_resolved(struct sample_group *g, size_t from, size_t to)
{
	int result = 0;

	while (from < to && !result) {
		size_t end = from;

		while (end < to && !g->steps[end].is_deferred)
			end++;
		if (end > from)
			result = g->sink.take(g->sink.ctx, from, end);
		from = end + 1;
	}
	return result;
}

static int resolve_chains(struct sample_group *g, size_t from, size_t to)
{
	int result = 0;

	look_at_chains(g, from, to);
	for (size_t next; from < to && !result; from = next) {
		result = begin_chains(g, from, to, &next);
		if (result)
			break;
		step_chains(g, from, next);
		result = end_chains(g, from, next);
		if (!result)
			result = take_resolved(g, from, next);
	}
	if (result)
		resolver_chains_lost(g->resolver);
	return result;
}

/* ---- a group ---- */

/* Fetches the stacks that were unwound ahead of time. Each must be fetched exactly once, even
 * after an error. */
static void get_ahead(struct sample_group *g, size_t from, size_t to)
{
	for (; g->ahead && from < to; from++)
		g->steps[from].found.ahead = resolver_ahead_get(g->ahead, from);
}

static int resolve_some(struct sample_group *g, size_t from, size_t to)
{
	enum resolver_depth depth = g->resolver->depth;

	if (g->is_sequential || to - from == 1 || depth == RESOLVE_THREADS)
		return resolve_sequentially(g, from, to);
	return depth == RESOLVE_CHAINS ? resolve_chains(g, from, to)
				       : resolve_leaves(g, from, to);
}

int sample_group_end(struct sample_group *g)
{
	/* With is_sequential, process one sample at a time, so that the first one does not wait
	 * until the threads have unwound later ones. */
	size_t nr = g->nr, step = g->is_sequential && g->ahead ? 1 : TOGETHER;
	int result;

	g->nr = 0;
	if (!nr)
		return 0;
	result = find_samples(g, &nr);
	if (g->ahead)
		resolver_ahead_start(g->ahead);
	for (size_t from = 0, to; from < nr; from = to) {
		to = from + step < nr ? from + step : nr;
		get_ahead(g, from, to);
		if (!result)
			result = resolve_some(g, from, to);
	}
	return result;
}
