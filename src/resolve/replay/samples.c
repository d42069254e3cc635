/* SPDX-License-Identifier: GPL-2.0-or-later */
/* samples.c - decodes samples of a perf.data into the group (sample_group.h) that resolves
 * them: those of a chunk, those that are next in order of time, and those whose chain was
 * incomplete before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"

enum {
	/* Samples that wait; further ones are returned without their callers. */
	LATE_MAX = 1 << 16,
	/* Results of replay_decode() and decode_next(). */
	SAMPLE_SKIPPED = 1,
	SAMPLE_WAITS = 2 /* the rest of its chain has not arrived */
};

/* Completes the chain of a sample. Returns 0; 1 if the rest of it comes later; or -ENOMEM. */
static int replay_join(struct replay *r, struct grouped_sample *s)
{
	enum chain_form form = r->options.each ? CHAIN_AS_PERF : CHAIN_OF_RETURNS;
	int result = 0;

	if (chain_may_be_apart(&r->decoder, &s->rec.sample)) {
		result = chain_join_branches(&r->decoder, form, &s->chain, &s->rec);
		if (!result)
			result = chain_join_deferred(&r->deferred, &r->decoder, form,
						     r->no_more_chains ||
							     r->late.nr >= LATE_MAX,
						     &s->chain, &s->rec);
	}
	return result || form == CHAIN_AS_PERF
		       ? result
		       : chain_join_place(&r->decoder, &s->chain, &s->rec);
}

/* Decodes a SAMPLE record, number `order` of the file. Returns 0, SAMPLE_SKIPPED (it is
 * malformed), SAMPLE_WAITS or -ENOMEM. */
static inline int replay_decode(struct replay *r, const uint8_t *bytes, uint32_t size,
				uint64_t order, struct grouped_sample *s)
{
	struct record *rec = &s->rec;
	bool whole = replay_looks_at_all(r);
	int bad = whole ? decoder_sample(&r->decoder, bytes, size, rec, NULL)
			: decoder_sample_fixed(&r->decoder, bytes, size, rec, NULL);

	if (bad) {
		r->undecodable++;
		return SAMPLE_SKIPPED;
	}
	/* Skip implausible periods, so that sums of periods cannot overflow: no counter counts
	 * that far. */
	if (__builtin_add_overflow(r->periods, rec->sample.period, &r->periods)) {
		r->periods -= rec->sample.period;
		r->undecodable++;
		return SAMPLE_SKIPPED;
	}
	if (r->feed.timeless)
		rec->id.time_ns = order;
	bad = whole ? replay_join(r, s) : 0;
	return bad > 0 ? SAMPLE_WAITS : bad;
}

static int keep_late(struct replay *r, const uint8_t *bytes, uint32_t size,
		     uint64_t order, struct replay_extra *extra)
{
	struct replay_late late = { .bytes = malloc(size),
				    .size = size,
				    .order = order,
				    .is_shared = extra->is_shared,
				    .shares = extra->shares };

	late.time_ns = r->group.samples[r->group.nr].rec.id.time_ns;
	if (!late.bytes || !vec_push(&r->late, late)) {
		free(late.bytes);
		return -ENOMEM;
	}
	extra->shares = (struct group_shares){ 0 };
	memcpy(late.bytes, bytes, size);
	return 0;
}

/* Stores the counts of each event in `shares`, if the sample contains counts. Returns 0,
 * SAMPLE_SKIPPED (nothing was counted) or -ENOMEM. */
static int take_shares(struct replay *r, const struct record *rec,
		       struct replay_extra *extra)
{
	int known;

	extra->is_shared =
		r->reads && group_reads_has(&r->decoder.attrs.at[rec->id.event]);
	if (!extra->is_shared)
		return 0;
	known = group_reads_take(&r->counted, &r->decoder, rec, &extra->shares);
	if (known < 0)
		return known;
	r->undecodable += known > 0;
	if (extra->shares.list.nr > r->max_shares)
		extra->shares.list.nr = r->max_shares;
	return extra->shares.list.nr ? 0 : SAMPLE_SKIPPED;
}

/* Like replay_decode(), but keeps a sample that waits, and returns SAMPLE_SKIPPED. */
static int decode_next(struct replay *r, const uint8_t *bytes, uint32_t size,
		       uint64_t order, struct replay_extra *extra)
{
	struct grouped_sample *s = &r->group.samples[r->group.nr];
	int result = replay_decode(r, bytes, size, order, s);
	int shares;

	if (result < 0 || result == SAMPLE_SKIPPED)
		return result;
	shares = take_shares(r, &s->rec, extra);
	if (!shares && result == SAMPLE_WAITS)
		shares = keep_late(r, bytes, size, order, extra) ? -ENOMEM
								 : SAMPLE_SKIPPED;
	return shares;
}

/* Resolves a sample that waited for its chain and is now decoded. */
static int give_late(struct replay *r, struct replay_late *late)
{
	struct replay_extra *extra = &r->extra[r->group.nr];

	extra->item = NULL;
	extra->is_shared = late->is_shared;
	vec_done(&extra->shares.list);
	extra->shares = late->shares;
	late->shares = (struct group_shares){ 0 };
	sample_group_add(&r->group);
	return sample_group_end(&r->group);
}

int replay_take_late(struct replay *r, size_t max)
{
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < r->late.nr; i++) {
		struct replay_late *l = &r->late.at[i];
		int state = SAMPLE_WAITS;

		if (!result && max)
			state = replay_decode(r, l->bytes, l->size, l->order,
					      &r->group.samples[0]);
		if (state == SAMPLE_WAITS) {
			r->late.at[kept++] = *l;
			continue;
		}
		if (state == 0) {
			max--;
			result = give_late(r, l);
		} else if (state < 0) {
			result = state;
		}
		free(l->bytes);
		vec_done(&l->shares.list);
	}
	r->late.nr = kept;
	return result;
}

int replay_group_chunk(struct replay *r, size_t max)
{
	const struct perf_chunk *chunk = &r->batch.chunks.at[r->chunk].chunk;

	while (r->group.nr < max) {
		uint32_t size;
		const uint8_t *at = feed_walk_sample(&r->feed, chunk, &r->walk, &size);
		int result;

		if (!at)
			return 1;
		result =
			decode_next(r, at, size, r->walk.order, &r->extra[r->group.nr]);
		if (result < 0)
			return result;
		/* No attr has the id of the sample, so its event and layout are unknown. */
		if (!result && r->group.samples[r->group.nr].rec.id.stray) {
			r->undecodable++;
			result = SAMPLE_SKIPPED;
		}
		if (result != SAMPLE_SKIPPED)
			sample_group_add(&r->group);
	}
	return 0;
}

int replay_group_sorted(struct replay *r, uint64_t before_ns)
{
	const struct timed_record *item;
	bool full = false;

	while (!full && (item = sorter_take(&r->sorter, before_ns))) {
		struct replay_extra *extra = &r->extra[r->group.nr];
		int result =
			decode_next(r, item->bytes, item->size, item->order, extra);

		if (result < 0)
			return result;
		extra->item = item;
		if (result != SAMPLE_SKIPPED)
			full = sample_group_add(&r->group);
	}
	return 0;
}

uint32_t replay_event(struct replay *r, uint32_t attr)
{
	uint32_t *number = &r->event_of.at[attr];

	if (*number == DICT_NONE)
		*number = replay_describe_event(r, attr);
	return *number;
}

int replay_finish_sample(struct replay *r, struct grouped_sample *s)
{
	struct sample *sample = &s->sample;

	r->time_ns = s->rec.id.time_ns;
	if (r->jit_frames && jit_stage_is_needed(r->jit) &&
	    sample->stack != DICT_NONE) {
		sample->stack = jit_stage_stack(r->jit, sample->stack, sample->time_ns);
		if (sample->stack == DICT_NONE)
			return -ENOMEM;
	}
	sample->event = replay_event(r, s->rec.id.event);
	return sample->event == DICT_NONE ? -ENOMEM : 0;
}
