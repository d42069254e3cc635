/* SPDX-License-Identifier: GPL-2.0-or-later */
/* in_order.c - returns samples of a perf.data one by one, in order of time, for replay.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"

/* Flag in resolver_position.entry: the other bits are an image number of the dict instead of an
 * entry of the resolver. */
#define POSITION_OF_DICT 0x80000000u

static int give_one_side(void *ctx, const struct timed_record *record)
{
	struct replay *r = ctx;
	struct record rec;

	return decoder_record(&r->decoder, record->bytes, record->size, &rec, NULL)
		       ? 0
		       : r->options.each_side(r->options.ctx, &rec);
}

/* Passes the kept side-band records up to that time to the callback. */
static int give_side(struct replay *r, uint64_t time_ns)
{
	return side_band_waiting(&r->side)
		       ? side_band_give(&r->side, time_ns, give_one_side, r)
		       : 0;
}

static int give_each(struct replay *r, struct grouped_sample *s)
{
	return r->options.each(r->options.ctx, &r->decoder, &s->rec, &s->sample);
}

/* Passes the sample to the callback once for each event that it contains a count of. */
static int give_shares(struct replay *r, struct grouped_sample *s,
		       const struct group_shares *shares)
{
	int result = 0;

	for (size_t i = 0; i < shares->list.nr && !result; i++) {
		const struct group_share *share = &shares->list.at[i];

		s->sample.period = s->rec.sample.period = share->period;
		s->sample.event = replay_event(r, share->event);
		s->rec.id.event = share->event;
		s->rec.id.id = share->id;
		if (s->sample.event == DICT_NONE)
			return -ENOMEM;
		result = give_each(r, s);
	}
	return result;
}

int replay_take_in_order(void *ctx, size_t from, size_t to)
{
	struct replay *r = ctx;
	int result = 0;

	for (; from < to && result >= 0; from++) {
		struct grouped_sample *s = &r->group.samples[from];
		const struct replay_extra *extra = &r->extra[from];

		result = extra->item ? give_side(r, extra->item->time_ns) : 0;
		if (!result)
			result = replay_finish_sample(r, s);
		if (result)
			continue;
		if (extra->item && sorter_is_lost(&r->sorter, extra->item))
			r->undecodable++;
		else
			result = extra->is_shared ? give_shares(r, s, &extra->shares)
						  : give_each(r, s);
	}
	return result < 0 ? result : 0;
}

static int give_until(struct replay *r, uint64_t before_ns)
{
	int result = replay_take_late(r, SIZE_MAX);
	size_t nr = 1;

	while (!result && nr) {
		result = replay_group_sorted(r, before_ns);
		nr = r->group.nr;
		if (!result)
			result = sample_group_end(&r->group);
		sorter_release(&r->sorter, r->in);
	}
	return result;
}

int replay_locate(struct replay *r, uint16_t mode, uint64_t address,
		  struct resolver_position *ret_position)
{
	struct resolver_position at;
	uint32_t image, before;
	int result = resolver_locate(r->resolver, mode, address, &at);

	if (result || !r->jit_frames || !jit_stage_is_needed(r->jit) || !at.mapping ||
	    (mode & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER) {
		if (!result)
			*ret_position = at;
		return result;
	}
	result = resolver_image(r->resolver, &at, &before);
	image = before;
	if (!result)
		result = jit_stage_position(r->jit, &image, &at.offset, r->time_ns);
	if (result)
		return result;
	if (image != before)
		at.entry = POSITION_OF_DICT | image;
	*ret_position = at;
	return 0;
}

int replay_image(struct replay *r, const struct resolver_position *position,
		 uint32_t *ret_image)
{
	if (position->entry >= POSITION_OF_DICT &&
	    position->entry != RESOLVER_NOWHERE) {
		*ret_image = position->entry & ~(uint32_t)POSITION_OF_DICT;
		return 0;
	}
	return resolver_image(r->resolver, position, ret_image);
}

static int give_batch(struct replay *r)
{
	uint64_t before_ns =
		r->batch.frontier_ns == UINT64_MAX ? UINT64_MAX : r->batch.forget_ns;
	int result;

	for (size_t i = 0; i < r->batch.chunks.nr; i++)
		if (sorter_add(&r->sorter, &r->feed, &r->batch.chunks.at[i]))
			return -ENOMEM;
	if (sorter_sort(&r->sorter))
		return -ENOMEM;
	result = give_until(r, before_ns);
	if (!result)
		replay_forget(r);
	return result;
}

int replay_give_all(struct replay *r, struct err *err)
{
	for (;;) {
		int result = replay_next_batch(r, err);
		bool ended = result > 0;

		if (result < 0)
			return result;
		r->no_more_chains = ended;
		result = ended ? give_until(r, 0) : give_batch(r);
		if (ended && !result)
			result = give_side(r, UINT64_MAX);
		if (ended && !result)
			return 1;
		if (result)
			return result == -ENOMEM ? err_set(err, result, "out of memory")
						 : result;
	}
}
