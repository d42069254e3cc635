/* sample_group.c - decoded samples to columns, for replay.c: one by one, or those with chains in
 * groups, whose steps wait for memory together. */
#include <errno.h>

#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"

uint32_t replay_event(struct replay *r, uint32_t attr)
{
	uint32_t *number = &r->event_of.at[attr];

	if (*number == DICT_NONE)
		*number = replay_describe_event(r, attr);
	return *number;
}

/* What is behind the resolver.  0 or -ENOMEM. */
static int finish_sample(struct replay *r, const struct record *rec,
			 struct sample *sample)
{
	r->time_ns = rec->id.time_ns;
	if (r->jit && jit_stage_is_needed(r->jit) && sample->stack != DICT_NONE) {
		sample->stack = jit_stage_stack(r->jit, sample->stack, sample->time_ns);
		if (sample->stack == DICT_NONE)
			return -ENOMEM;
	}
	sample->event = replay_event(r, rec->id.event);
	return sample->event == DICT_NONE ? -ENOMEM : 0;
}

int replay_finish(struct replay *r, const struct record *rec,
		  struct resolver_found *found, struct sample *sample)
{
	if (resolver_finish(r->resolver, &r->decoder, rec, found, sample))
		return -ENOMEM;
	return finish_sample(r, rec, sample);
}

static void replay_group_put_sample(struct replay_columns *c, size_t at,
				    const struct sample *s)
{
	c->time_ns[at] = s->time_ns;
	c->period[at] = s->period;
	c->thread[at] = s->thread;
	c->event[at] = s->event;
	c->stack[at] = s->stack;
	c->cpu[at] = s->cpu;
}

static int put_shares(struct replay *r, const struct replay_sample *s,
		      struct sample *sample, size_t *nr)
{
	for (size_t i = 0; i < s->shares.list.nr; i++) {
		sample->period = s->shares.list.at[i].period;
		sample->event = replay_event(r, s->shares.list.at[i].event);
		if (sample->event == DICT_NONE)
			return -ENOMEM;
		replay_group_put_sample(r->columns, (*nr)++, sample);
	}
	return 0;
}

static inline int replay_group_put(struct replay *r, const struct replay_sample *s,
				   struct sample *sample, size_t *nr)
{
	if (s->is_shared)
		return put_shares(r, s, sample, nr);
	replay_group_put_sample(r->columns, (*nr)++, sample);
	return 0;
}

int replay_put(struct replay *r, const struct replay_sample *s, struct sample *sample,
	       size_t *nr)
{
	return replay_group_put(r, s, sample, nr);
}

static int finish_one_by_one(struct replay *r, int nr_group, size_t *nr)
{
	for (int i = 0; i < nr_group; i++) {
		struct replay_sample *s = &r->group[i];
		struct sample sample;

		if (r->unwinding)
			s->found.ahead = resolver_ahead_get(r->unwinding, (size_t)i);
		if (replay_finish(r, &s->rec, &s->found, &sample) ||
		    replay_group_put(r, s, &sample, nr))
			return -ENOMEM;
	}
	return 0;
}

static void step_together(struct replay *r, int from, int to)
{
	int waiting[REPLAY_GROUP];
	int nr = 0;

	for (int i = from; i < to; i++)
		if (!resolver_is_known(&r->group[i].state))
			waiting[nr++] = i;
	while (nr) {
		int left = 0;

		for (int i = 0; i < nr; i++)
			if (resolver_step(r->resolver, &r->group[waiting[i]].state))
				waiting[left++] = waiting[i];
		nr = left;
	}
}

/* Those from `from` on for which there is room.  How many there are behind, or -ENOMEM. */
static int begin_together(struct replay *r, int from, int nr_group)
{
	for (; from < nr_group && resolver_has_room(r->resolver); from++) {
		struct replay_sample *s = &r->group[from];

		if (resolver_begin(r->resolver, &r->decoder, &s->rec, &s->found,
				   &s->state, &s->sample))
			return -ENOMEM;
	}
	return from;
}

static int end_together(struct replay *r, int from, int to, size_t *nr)
{
	for (int i = from; i < to; i++) {
		struct replay_sample *s = &r->group[i];

		if (resolver_is_known(&s->state))
			s->sample.stack = s->state.stack;
		else if (resolver_end(r->resolver, &s->state, &s->sample))
			return -ENOMEM;
		if (finish_sample(r, &s->rec, &s->sample) ||
		    replay_group_put(r, s, &s->sample, nr))
			return -ENOMEM;
	}
	resolver_group_end(r->resolver);
	return 0;
}

static int finish_together(struct replay *r, int nr_group, size_t *nr)
{
	int from = 0;

	for (int i = 0; i < nr_group; i++)
		resolver_look(r->resolver, &r->decoder, &r->group[i].rec,
			      &r->group[i].found, &r->group[i].state);
	for (int i = 0; i < nr_group; i++)
		resolver_ask(r->resolver, &r->decoder, &r->group[i].rec,
			     &r->group[i].found, &r->group[i].state);
	while (from < nr_group) {
		int to = begin_together(r, from, nr_group);

		if (to < 0)
			return to;
		step_together(r, from, to);
		if (end_together(r, from, to, nr))
			return -ENOMEM;
		from = to;
	}
	return 0;
}

int replay_finish_group(struct replay *r, int nr_group, size_t *nr)
{
	/* What a jitdump tells adds frames of its own behind each sample, and stacks that are
	 * unwound take most of the time. */
	bool apart = !r->options.chains || r->group_max > REPLAY_GROUP ||
		     (r->jit && jit_stage_is_needed(r->jit));
	size_t before = *nr;

	if (apart ? finish_one_by_one(r, nr_group, nr)
		  : finish_together(r, nr_group, nr))
		return -ENOMEM;
	if (perf_chunk_is_lost(&r->batch.chunks.at[r->chunk].chunk)) {
		r->undecodable += (uint64_t)nr_group;
		*nr = before;
	}
	return 0;
}
