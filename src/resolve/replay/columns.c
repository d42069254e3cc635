/* SPDX-License-Identifier: GPL-2.0-or-later */
/* columns.c - returns samples of a perf.data as batches of columns, chunk by chunk, for
 * replay.h. */
#include <errno.h>

#include "base/err.h"
#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"

static void put_column(struct replay_columns *c, size_t at, const struct sample *s)
{
	c->time_ns[at] = s->time_ns;
	c->period[at] = s->period;
	c->thread[at] = s->thread;
	c->event[at] = s->event;
	c->stack[at] = s->stack;
	c->cpu[at] = s->cpu;
}

static int put_shares(struct replay *r, const struct group_shares *shares,
		      struct sample *sample)
{
	for (size_t i = 0; i < shares->list.nr; i++) {
		sample->period = shares->list.at[i].period;
		sample->event = replay_event(r, shares->list.at[i].event);
		if (sample->event == DICT_NONE)
			return -ENOMEM;
		put_column(r->columns, r->filled++, sample);
	}
	return 0;
}

int replay_take_columns(void *ctx, size_t from, size_t to)
{
	struct replay *r = ctx;

	for (size_t i = from; i < to; i++) {
		struct grouped_sample *s = &r->group.samples[i];

		if (replay_finish_sample(r, s))
			return -ENOMEM;
		if (!r->extra[i].is_shared)
			put_column(r->columns, r->filled++, &s->sample);
		else if (put_shares(r, &r->extra[i].shares, &s->sample))
			return -ENOMEM;
	}
	return 0;
}

/* Resolves the group into the columns, unless its chunk was lost meanwhile. Returns 0 or
 * -ENOMEM. */
static int put_group(struct replay *r)
{
	size_t before = r->filled, nr = r->group.nr;

	/* The jitdump stage adds frames after each sample, so resolve the samples one at a
	 * time. */
	r->group.is_sequential = r->jit_frames && jit_stage_is_needed(r->jit);
	if (sample_group_end(&r->group))
		return -ENOMEM;
	if (perf_chunk_is_lost(&r->batch.chunks.at[r->chunk].chunk)) {
		r->undecodable += nr;
		r->filled = before;
	}
	return 0;
}

/* Fills the columns from the current chunk, until the chunk ends or the columns are full. Returns 0
 * or -ENOMEM. */
static int fill_columns(struct replay *r)
{
	size_t room;

	while ((room = (REPLAY_BATCH - r->filled) / r->max_shares)) {
		size_t max = room < r->group.max ? room : r->group.max;
		int ended = replay_group_chunk(r, max);

		if (ended < 0 || put_group(r))
			return -ENOMEM;
		if (ended) {
			replay_end_chunk(r);
			return 0;
		}
	}
	return 0;
}

static void set_batch(const struct replay_columns *c, size_t nr,
		      struct sample_batch *batch)
{
	*batch = (struct sample_batch){
		.nr = nr,
		.time_ns = c->time_ns,
		.period = c->period,
		.thread = c->thread,
		.event = c->event,
		.stack = c->stack,
		.cpu = c->cpu,
	};
}

int replay_next_columns(struct replay *r, struct sample_batch *ret_batch,
			struct err *err)
{
	r->filled = 0;
	while (!r->filled) {
		int result;

		if (r->chunk < r->batch.chunks.nr) {
			if (fill_columns(r))
				return err_set(err, -ENOMEM, "out of memory");
			continue;
		}
		result = r->no_more_chains ? 1 : replay_next_batch(r, err);
		r->no_more_chains = result > 0;
		if (result < 0 || (result && !r->late.nr))
			return result;
		if (replay_take_late(r, REPLAY_BATCH / r->max_shares))
			return err_set(err, -ENOMEM, "out of memory");
	}
	set_batch(r->columns, r->filled, ret_batch);
	return 0;
}
