/* SPDX-License-Identifier: GPL-2.0-or-later */
/* batch.c - reads the batches of a perf.data (feed.h), for replay.h: applies their side band,
 * then reads their chunks one after the other. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "resolve/jit/stage.h"
#include "resolve/replay/priv.h"
#include "resolve/replay/read_ahead.h"

/* If the record maps a jitdump, calls `jit_mapped`, and adds the dump if dumps are used and its
 * file can be found. Returns 0 or -ENOMEM. */
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
	result = jit_open_dump(&r->jit_locations, m->pid, m->path, m->ino, &from.fd,
			       &found);
	if (result)
		return result == -ENOMEM ? result : 0;
	result = jit_stage_add(r->jit, &from);
	close(from.fd);
	free(found);
	return result == -ENOMEM ? result : 0;
}

/* Applies a side-band record, and keeps it for `each_side` if that is set. */
static int apply_side(void *ctx, const struct timed_record *record)
{
	struct replay *r = ctx;
	struct record rec;
	int result = 0;

	if (!decoder_record(&r->decoder, record->bytes, record->size, &rec, NULL)) {
		rec.id.time_ns = record->time_ns;
		rec.id.has_time = true;
		result = rec.type == RECORD_CALLCHAIN_DEFERRED
				 ? deferred_chains_add(&r->deferred, &rec)
				 : resolver_side_band(r->resolver, &rec);
		if (!result && (r->jit || r->options.jit_mapped))
			result = take_dump(r, &rec);
	}
	if (!result && r->options.each_side)
		result = side_band_add(&r->side, record->time_ns, record->bytes,
				       record->size);
	return result;
}

static void begin_chunk(struct replay *r)
{
	r->walk = (struct feed_walk){ 0 };
	if (r->chunk < r->batch.chunks.nr)
		r->walk.order = r->batch.chunks.at[r->chunk].order;
}

int replay_next_batch(struct replay *r, struct err *err)
{
	int result;

	feed_batch_done(&r->feed, &r->batch);
	r->chunk = 0;
	result = r->ahead ? read_ahead_next(r->ahead, &r->batch, err)
			  : feed_next(&r->feed, &r->batch, err);
	if (result)
		return result;
	begin_chunk(r);
	if (r->batch.has_guests)
		resolver_has_guests(r->resolver);
	if (side_band_give(&r->batch.side, UINT64_MAX, apply_side, r))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

void replay_forget(struct replay *r)
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

void replay_end_chunk(struct replay *r)
{
	struct feed_chunk *done = &r->batch.chunks.at[r->chunk];

	perf_input_release(r->in, &done->chunk);
	done->chunk = (struct perf_chunk){ 0 };
	r->chunk++;
	begin_chunk(r);
	if (r->chunk == r->batch.chunks.nr)
		replay_forget(r);
}
