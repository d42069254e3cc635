/* group.c - samples whose stacks are unwound go in groups: beside other work what they need
 * is not in the CPU's caches, and a group waits for its memory together. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "record/priv.h"
#include "resolve/replay/resolver_ahead.h"

enum {
	GROUP_SAMPLES = 32
};

/* Samples of groups of events are made for the moment; what goes to a perf.data file is written one
 * by one. */
static bool can_group(const struct recorder_config *c)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (c->events[i].leads)
			return false;
	return c->stack_bytes && !c->perf_data;
}

int recorder_group_open(struct recorder *r)
{
	if (!can_group(&r->config))
		return 0;
	r->group.samples = calloc(GROUP_SAMPLES, sizeof(*r->group.samples));
	return r->group.samples ? resolver_ahead_new(r->resolver, &r->decoder, 1,
						     &r->group.ahead)
				: -ENOMEM;
}

void recorder_group_done(struct recorder *r)
{
	resolver_ahead_free(r->group.ahead);
	free(r->group.samples);
	r->group = (struct sample_group){ 0 };
}

int recorder_group_add(struct recorder *r, const struct record *rec, const void *bytes,
		       size_t len)
{
	struct sample_group *g = &r->group;
	struct grouped_sample *s = &g->samples[g->nr];

	*s = (struct grouped_sample){ .rec = *rec, .bytes = bytes, .len = len };
	if (resolver_find(r->resolver, &s->rec, &s->found))
		return err_set(r->err, -ENOMEM, "out of memory");
	resolver_ahead_add(g->ahead, &s->rec, &s->found);
	return ++g->nr < GROUP_SAMPLES ? 0 : recorder_group_end(r);
}

/* Those from `from` on for which there is room.  *ret_to: how many there are behind. */
static int recorder_group_begin_samples(struct recorder *r, size_t from, size_t nr,
					size_t *ret_to)
{
	int result = 0;

	for (; from < nr && resolver_has_room(r->resolver) && !result; from++) {
		struct grouped_sample *s = &r->group.samples[from];

		result = resolver_begin(r->resolver, &r->decoder, &s->rec, &s->found,
					&s->chain, &s->sample);
		s->is_due = result == -EAGAIN;
		if (result)
			result =
				recorder_keep_due(r, &s->rec, s->bytes, s->len, result);
	}
	*ret_to = from;
	return result;
}

static void step_samples(struct recorder *r, size_t from, size_t to)
{
	struct grouped_sample *waiting[GROUP_SAMPLES];
	size_t nr = 0, left;

	for (; from < to; from++)
		if (!r->group.samples[from].is_due)
			waiting[nr++] = &r->group.samples[from];
	for (; nr; nr = left) {
		left = 0;
		for (size_t i = 0; i < nr; i++)
			if (resolver_step(r->resolver, &waiting[i]->chain))
				waiting[left++] = waiting[i];
	}
}

static int end_samples(struct recorder *r, size_t from, size_t to)
{
	int result = 0;

	for (; from < to && !result; from++) {
		struct grouped_sample *s = &r->group.samples[from];

		if (s->is_due)
			continue;
		result = resolver_end(r->resolver, &s->chain, &s->sample);
		result = recorder_add_sample(r, &s->rec, s->bytes, result, &s->sample);
	}
	resolver_group_end(r->resolver);
	return result;
}

int recorder_group_end(void *ctx)
{
	struct recorder *r = ctx;
	size_t nr = r->group.nr;
	int result = 0;

	r->group.nr = 0;
	if (!nr)
		return 0;
	resolver_ahead_start(r->group.ahead);
	for (size_t i = 0; i < nr; i++) {
		struct grouped_sample *s = &r->group.samples[i];

		s->found.ahead = resolver_ahead_get(r->group.ahead, i);
		resolver_look(r->resolver, &r->decoder, &s->rec, &s->found, &s->chain);
	}
	for (size_t i = 0; i < nr; i++)
		resolver_ask(r->resolver, &r->decoder, &r->group.samples[i].rec,
			     &r->group.samples[i].found, &r->group.samples[i].chain);
	for (size_t from = 0, to; from < nr && !result; from = to) {
		result = recorder_group_begin_samples(r, from, nr, &to);
		if (!result) {
			step_samples(r, from, to);
			result = end_samples(r, from, to);
		}
	}
	if (result)
		resolver_group_lost(r->resolver);
	return result;
}
