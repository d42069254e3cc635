/* samples.c - the half of replay.h that reads: batches, or one sample after the other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"
#include "resolve/replay/read_ahead.h"

enum {
	LATE_MAX = 1 << 16 /* samples that wait; more are given without their callers */
};

/* The entry of a place whose image is not the resolver's: with its number in the dict. */
#define PLACE_OF_DICT 0x80000000u

/* ---- batches ---- */

/* If it is a jitdump that was mapped and that is found, it is taken.  0 or -ENOMEM. */
static int take_dump(struct replay *r, const struct record *rec)
{
	const struct record_mmap *m = &rec->mmap;
	struct jit_dump_source from = { .pid = m->pid,
					.path = m->path,
					.inode = m->ino,
					.clock = JIT_CLOCK_MAPPED,
					.mapped_ns = rec->id.time_ns };
	char *found;
	int result;

	if ((rec->type != PERF_RECORD_MMAP && rec->type != PERF_RECORD_MMAP2) ||
	    !jit_dump_name(m->path))
		return 0;
	if (r->options.jit_mapped)
		r->options.jit_mapped(r->options.ctx, m,
				      r->feed.timeless ? 0 : rec->id.time_ns);
	if (!r->jit)
		return 0;
	if (r->feed.timeless)
		from.clock = JIT_CLOCK_NONE;
	else if (r->info.clock_id == CLOCK_MONOTONIC)
		from.clock = JIT_CLOCK_SAME;
	result = jit_open_dump(&r->jit_places, m->pid, m->path, m->ino, &from.fd,
			       &found);
	if (result)
		return result == -ENOMEM ? result : 0;
	result = jit_stage_add(r->jit, &from);
	close(from.fd);
	free(found);
	return result == -ENOMEM ? result : 0;
}

static int apply_side(struct replay *r, struct feed_batch *batch)
{
	for (size_t i = 0; i < batch->side.nr; i++) {
		struct feed_side *s = &batch->side.at[i];
		struct record rec;
		int result;

		if (decoder_record(&r->decoder, s->bytes, s->len, &rec, NULL))
			continue;
		rec.id.time_ns = s->time_ns;
		rec.id.has_time = true;
		result = rec.type == RECORD_CALLCHAIN_DEFERRED
				 ? deferred_chains_add(&r->deferred, &rec)
				 : resolver_side_band(r->resolver, &rec);
		if (!result && (r->jit || r->options.jit_mapped))
			result = take_dump(r, &rec);
		if (result)
			return result;
	}
	return 0;
}

static int give_side(struct replay *r, uint64_t time_ns)
{
	return r->options.each_side
		       ? side_queue_give(&r->side, &r->decoder, time_ns,
					 r->options.each_side, r->options.ctx)
		       : 0;
}

static void begin_chunk(struct replay *r)
{
	r->walk = (struct feed_walk){ 0 };
	if (r->chunk < r->batch.chunks.nr)
		r->walk.order = r->batch.chunks.at[r->chunk].order;
}

/* 0, 1 at the end, or a negative errno. */
static int next_batch(struct replay *r, struct err *err)
{
	int result;

	feed_batch_done(&r->feed, &r->batch);
	r->chunk = 0;
	result = r->ahead ? read_ahead_next(r->ahead, &r->batch, err)
			  : feed_next(&r->feed, &r->batch, err);
	if (result)
		return result;
	begin_chunk(r);
	if (apply_side(r, &r->batch) ||
	    (r->options.each_side && side_queue_keep(&r->side, &r->batch)))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* What no sample asks for any more. */
static void replay_forget(struct replay *r)
{
	uint64_t time_ns = r->batch.forget_ns;

	for (size_t i = 0; i < r->late.nr; i++)
		if (r->late.at[i].time_ns < time_ns)
			time_ns = r->late.at[i].time_ns;
	if (!time_ns)
		return;
	resolver_frontier(r->resolver, time_ns);
	deferred_chains_forget(&r->deferred, time_ns);
}

static void end_chunk(struct replay *r)
{
	struct feed_chunk *done = &r->batch.chunks.at[r->chunk];

	perf_input_release(r->in, &done->chunk);
	done->chunk = (struct perf_chunk){ 0 };
	r->chunk++;
	begin_chunk(r);
	if (r->chunk == r->batch.chunks.nr)
		replay_forget(r);
}

enum {
	SAMPLE_SKIPPED = 1,
	SAMPLE_WAITS = 2 /* for the rest of its chain */
};

/* 0; 1: the rest of its chain comes later; or -ENOMEM. */
static int replay_join(struct replay *r, struct replay_sample *s)
{
	enum chain_form form = r->options.each ? CHAIN_AS_PERF : CHAIN_OF_RETURNS;
	int result;

	if (!chain_may_be_apart(&r->decoder, &s->rec.sample))
		return 0;
	result = chain_join_branches(&r->decoder, form, &s->chain, &s->rec);
	return result ? result
		      : chain_join_deferred(&r->deferred, &r->decoder, form,
					    r->no_more_chains || r->late.nr >= LATE_MAX,
					    &s->chain, &s->rec);
}

/* A SAMPLE record, number `order` of the file.  0, SAMPLE_SKIPPED (it is not a sound one),
 * SAMPLE_WAITS or -ENOMEM. */
static inline int replay_decode(struct replay *r, const uint8_t *bytes, uint32_t size,
				uint64_t order, struct replay_sample *s)
{
	struct record *rec = &s->rec;
	bool whole = replay_looks_at_all(r);
	int bad = whole ? decoder_sample(&r->decoder, bytes, size, rec, NULL)
			: decoder_sample_fixed(&r->decoder, bytes, size, rec, NULL);

	if (bad) {
		r->undecodable++;
		return SAMPLE_SKIPPED;
	}
	if (r->feed.timeless)
		rec->id.time_ns = order;
	bad = whole ? replay_join(r, s) : 0;
	return bad > 0 ? SAMPLE_WAITS : bad;
}

static int keep_late(struct replay *r, const uint8_t *bytes, uint32_t size,
		     uint64_t order, struct replay_sample *s)
{
	struct replay_late late = { malloc(size),      size,         order,
				    s->rec.id.time_ns, s->is_shared, s->shares };

	if (!late.bytes || !vec_push(&r->late, late)) {
		free(late.bytes);
		return -ENOMEM;
	}
	s->shares = (struct group_shares){ 0 };
	memcpy(late.bytes, bytes, size);
	return 0;
}

/* What each event has counted, if the sample tells.  0, SAMPLE_SKIPPED (nothing) or -ENOMEM. */
static int take_shares(struct replay *r, struct replay_sample *s)
{
	int known;

	s->is_shared =
		r->reads && group_reads_has(&r->decoder.attrs.at[s->rec.id.event]);
	if (!s->is_shared)
		return 0;
	known = group_reads_take(&r->counted, &r->decoder, &s->rec, &s->shares);
	if (known < 0)
		return known;
	r->undecodable += known > 0;
	if (s->shares.list.nr > r->max_shares)
		s->shares.list.nr = r->max_shares;
	return s->shares.list.nr ? 0 : SAMPLE_SKIPPED;
}

/* 0, SAMPLE_SKIPPED (maybe for now) or -ENOMEM. */
static int decode_now(struct replay *r, const uint8_t *bytes, uint32_t size,
		      uint64_t order, struct replay_sample *s)
{
	int result = replay_decode(r, bytes, size, order, s);
	int shares;

	if (result < 0 || result == SAMPLE_SKIPPED)
		return result;
	shares = take_shares(r, s);
	if (!shares && result == SAMPLE_WAITS)
		shares = keep_late(r, bytes, size, order, s) ? -ENOMEM : SAMPLE_SKIPPED;
	return shares;
}

typedef int (*late_fn)(struct replay *r, struct replay_sample *s, void *ctx);

/* Gives `fn` those which waited and are whole now, at most `max`.  0, or what `fn` returned. */
static int take_late(struct replay *r, size_t max, late_fn fn, void *ctx)
{
	struct replay_sample *s = &r->group[0];
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < r->late.nr; i++) {
		struct replay_late *l = &r->late.at[i];
		int state = SAMPLE_WAITS;

		if (!result && max)
			state = replay_decode(r, l->bytes, l->size, l->order, s);
		if (state == SAMPLE_WAITS) {
			r->late.at[kept++] = *l;
			continue;
		}
		if (state == 0) {
			max--;
			s->is_shared = l->is_shared;
			vec_done(&s->shares.list);
			s->shares = l->shares;
			l->shares = (struct group_shares){ 0 };
			result = fn(r, s, ctx);
		} else if (state < 0) {
			result = state;
		}
		free(l->bytes);
		vec_done(&l->shares.list);
	}
	r->late.nr = kept;
	return result;
}

/* The next samples of the current chunk, at most `max`, decoded and looked up so far that
 * what the rest needs is on its way into the caches.  Their number, or -ENOMEM; fewer than
 * `max`: the chunk is at its end. */
static int begin_group(struct replay *r, int max)
{
	const struct perf_chunk *chunk = &r->batch.chunks.at[r->chunk].chunk;
	int nr = 0;

	while (nr < max) {
		struct replay_sample *s = &r->group[nr];
		uint32_t size;
		int result;
		const uint8_t *at = feed_walk_sample(&r->feed, chunk, &r->walk, &size);

		if (!at)
			break;
		result = decode_now(r, at, size, r->walk.order, s);
		if (result == SAMPLE_SKIPPED)
			continue;
		if (result < 0)
			return result;
		if (resolver_find(r->resolver, &s->rec, &s->found))
			return -ENOMEM;
		if (r->unwinding)
			resolver_ahead_add(r->unwinding, &s->rec, &s->found);
		nr++;
	}
	if (r->unwinding)
		resolver_ahead_start(r->unwinding);
	return nr;
}

/* Fills the columns from the current chunk.  0 or -ENOMEM. */
static int replay_fill(struct replay *r, size_t *nr)
{
	size_t room;

	while ((room = (REPLAY_BATCH - *nr) / r->max_shares)) {
		int max = room < (size_t)r->group_max ? (int)room : r->group_max;
		int nr_group = begin_group(r, max);

		if (nr_group < 0 || replay_finish_group(r, nr_group, nr))
			return -ENOMEM;
		if (nr_group < max) {
			end_chunk(r);
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

static int put_late(struct replay *r, struct replay_sample *s, void *ctx)
{
	struct sample sample;

	if (resolver_find(r->resolver, &s->rec, &s->found) ||
	    replay_finish(r, &s->rec, &s->found, &sample) ||
	    replay_put(r, s, &sample, ctx))
		return -ENOMEM;
	return 0;
}

static int next_columns(struct replay *r, struct sample_batch *ret_batch,
			struct err *err)
{
	size_t nr = 0;

	while (!nr) {
		int result;

		if (r->chunk < r->batch.chunks.nr) {
			if (replay_fill(r, &nr))
				return err_set(err, -ENOMEM, "out of memory");
			continue;
		}
		result = r->no_more_chains ? 1 : next_batch(r, err);
		r->no_more_chains = result > 0;
		if (result < 0 || (result && !r->late.nr))
			return result;
		if (take_late(r, REPLAY_BATCH / r->max_shares, put_late, &nr))
			return err_set(err, -ENOMEM, "out of memory");
	}
	set_batch(r->columns, nr, ret_batch);
	return 0;
}

/* ---- in order of time ---- */

static int give_shares(struct replay *r, struct replay_sample *s, struct sample *sample)
{
	size_t nr = s->is_shared ? s->shares.list.nr : 1;
	int result = 0;

	for (size_t i = 0; i < nr && !result; i++) {
		if (s->is_shared) {
			const struct group_share *share = &s->shares.list.at[i];

			sample->period = s->rec.sample.period = share->period;
			sample->event = replay_event(r, share->event);
			s->rec.id.event = share->event;
			s->rec.id.id = share->id;
		}
		if (sample->event == DICT_NONE)
			return -ENOMEM;
		result = r->options.each(r->options.ctx, &r->decoder, &s->rec, sample);
	}
	return result;
}

static int give_late(struct replay *r, struct replay_sample *s, void *ctx)
{
	struct sample sample;
	int result = resolver_find(r->resolver, &s->rec, &s->found);

	(void)ctx;
	if (!result)
		result = replay_finish(r, &s->rec, &s->found, &sample);
	if (!result)
		result = give_shares(r, s, &sample);
	return result < 0 ? result : 0;
}

/* The next samples before that time, as begin_group() has those of a chunk.  Their number, or
 * -ENOMEM; 0: there are none. */
static int begin_sorted(struct replay *r, uint64_t before_ns)
{
	int max = r->unwinding ? r->group_max : 1;
	const struct sorter_item *item;
	int nr = 0;

	while (nr < max && (item = sorter_take(&r->sorter, before_ns))) {
		struct replay_sample *s = &r->group[nr];
		int result = decode_now(r, item->bytes, item->size, item->order, s);

		if (result == SAMPLE_SKIPPED)
			continue;
		if (result || resolver_find(r->resolver, &s->rec, &s->found))
			return -ENOMEM;
		if (r->unwinding)
			resolver_ahead_add(r->unwinding, &s->rec, &s->found);
		s->item = item;
		nr++;
	}
	if (r->unwinding)
		resolver_ahead_start(r->unwinding);
	return nr;
}

/* Number `at` of them. */
static int give_sorted(struct replay *r, int at)
{
	struct replay_sample *s = &r->group[at];
	struct sample sample;
	int result = give_side(r, s->item->time_ns);

	if (r->unwinding)
		s->found.ahead = resolver_ahead_get(r->unwinding, (size_t)at);
	if (!result)
		result = replay_finish(r, &s->rec, &s->found, &sample);
	if (!result && sorter_is_lost(&r->sorter, s->item))
		r->undecodable++;
	else if (!result)
		result = give_shares(r, s, &sample);
	return result < 0 ? result : 0;
}

static int give_until(struct replay *r, uint64_t before_ns)
{
	int result = take_late(r, SIZE_MAX, give_late, NULL);
	int nr;

	while (!result) {
		nr = begin_sorted(r, before_ns);
		result = nr < 0 ? nr : 0;
		for (int i = 0; i < nr; i++) {
			if (!result)
				result = give_sorted(r, i);
			else if (r->unwinding) /* it is not begun with any more */
				(void)resolver_ahead_get(r->unwinding, (size_t)i);
		}
		sorter_release(&r->sorter, r->in);
		if (!nr)
			break;
	}
	return result;
}

int replay_locate(struct replay *r, uint16_t mode, uint64_t address,
		  struct resolver_place *ret_place)
{
	struct resolver_place at;
	uint32_t image, before;
	int result = resolver_locate(r->resolver, mode, address, &at);

	if (result || !r->jit || !jit_stage_is_needed(r->jit) || !at.mapping ||
	    (mode & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER) {
		if (!result)
			*ret_place = at;
		return result;
	}
	result = resolver_image(r->resolver, &at, &before);
	image = before;
	if (!result)
		result = jit_stage_place(r->jit, &image, &at.offset, r->time_ns);
	if (result)
		return result;
	if (image != before)
		at.entry = PLACE_OF_DICT | image;
	*ret_place = at;
	return 0;
}

int replay_image(struct replay *r, const struct resolver_place *place,
		 uint32_t *ret_image)
{
	if (place->entry >= PLACE_OF_DICT && place->entry != RESOLVER_NOWHERE) {
		*ret_image = place->entry & ~(uint32_t)PLACE_OF_DICT;
		return 0;
	}
	return resolver_image(r->resolver, place, ret_image);
}

static int give_batch(struct replay *r)
{
	uint64_t before_ns =
		r->batch.frontier_ns == UINT64_MAX ? UINT64_MAX : r->batch.forget_ns;
	int result;

	for (size_t i = 0; i < r->batch.chunks.nr; i++)
		if (sorter_add(&r->sorter, &r->feed, &r->batch.chunks.at[i]))
			return -ENOMEM;
	sorter_sort(&r->sorter);
	result = give_until(r, before_ns);
	if (!result)
		replay_forget(r);
	return result;
}

static int give_all(struct replay *r, struct err *err)
{
	for (;;) {
		int result = next_batch(r, err);
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

int replay_next(struct replay *r, struct sample_batch *ret_batch, struct err *err)
{
	return r->options.each ? give_all(r, err) : next_columns(r, ret_batch, err);
}
