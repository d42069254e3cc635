/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/saturate.h"
#include "resolve/replay/resolver.h"

enum {
	/* Limit for the bytes of chunks that wait for their round to end. Above it, the whole
	 * side band is read first, or (from a pipe) half of the chunks are passed on without
	 * waiting. */
	WAITING_BYTES = 24 << 20,
	HEADER_BYTES = sizeof(struct perf_event_header),
	/* PERF_RECORD_FINISHED_ROUND of tools/lib/perf/include/perf/event.h */
	FINISHED_ROUND = 68,
	/* After a record of this length, hardware prefetching does not reach the next one. */
	FAR_BYTES = 2048,
	AHEAD_RECORDS = 8,
	LINE_BYTES = 64,
	/* Header and fields of fixed size: perf_event_open(2), IDENTIFIER to PERIOD. */
	HEAD_BYTES = HEADER_BYTES + 9 * 8,
	/* Mean record length from which it is worthwhile to keep only the heads. */
	LONG_BYTES = 1024,
	/* If only the fields of fixed size are kept, a batch starts when so many bytes wait. */
	GATHER_BYTES = 4 << 20
};

void feed_init(struct feed *f, struct perf_input *in, const struct decoder *decoder)
{
	*f = (struct feed){ .in = in, .decoder = decoder, .timeless = true };
	for (size_t i = 0; i < decoder->attrs.nr; i++) {
		uint16_t at = decoder->layouts.at[i].time;

		if (at)
			f->timeless = false;
		if (!i)
			f->time_at = at;
		else if (f->time_at != at)
			f->time_at = 0;
	}
}

static void release_all(struct feed *f, struct feed_chunk *chunks, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		perf_input_release(f->in, &chunks[i].chunk);
}

void feed_done(struct feed *f)
{
	release_all(f, f->waiting.at, f->waiting.nr);
	if (f->rest.len)
		perf_input_release(f->in, &f->rest);
	side_band_done(&f->side);
	vec_done(&f->waiting);
}

void feed_batch_done(struct feed *f, struct feed_batch *batch)
{
	release_all(f, batch->chunks.at, batch->chunks.nr);
	side_band_done(&batch->side);
	vec_done(&batch->chunks);
}

static uint64_t replay_feed_load_u64(const struct feed *f, const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return f->decoder->swap ? __builtin_bswap64(v) : v;
}

static void replay_feed_note_time(struct feed *f, uint64_t time_ns)
{
	if (time_ns > f->newest_ns)
		f->newest_ns = time_ns;
}

uint64_t feed_sample_time(const struct feed *f, const uint8_t *bytes, uint32_t size)
{
	struct record rec;

	if (f->time_at)
		return size >= f->time_at + sizeof(uint64_t)
			       ? replay_feed_load_u64(f, bytes + f->time_at)
			       : 0;
	if (f->timeless || decoder_record(f->decoder, bytes, size, &rec, NULL))
		return 0;
	return rec.id.time_ns;
}

/* Adds the time of a sample, which is not 0, to the time span. */
static void replay_feed_note_span(struct feed *f, uint64_t time_ns)
{
	replay_feed_note_time(f, time_ns);
	if (!f->counts.first_ns || time_ns < f->counts.first_ns)
		f->counts.first_ns = time_ns;
	if (time_ns > f->counts.last_ns)
		f->counts.last_ns = time_ns;
}

static void scan_sample(struct feed *f, const uint8_t *at, uint32_t size)
{
	uint64_t time_ns = feed_sample_time(f, at, size);

	if (time_ns)
		replay_feed_note_span(f, time_ns);
}

static int scan_side_band(struct feed *f, const uint8_t *at, uint32_t size)
{
	uint64_t time_ns;
	struct record rec;

	if (decoder_record(f->decoder, at, size, &rec, NULL)) {
		f->counts.undecodable++;
		return 0;
	}
	if (rec.id.has_time && rec.id.time_ns)
		replay_feed_note_time(f, rec.id.time_ns);
	f->untimed_side |= !rec.id.has_time;
	time_ns = f->timeless       ? f->order + 1
		  : rec.id.has_time ? rec.id.time_ns
				    : f->applied_ns;
	return side_band_add(&f->side, time_ns, at, size);
}

static void scan_lost(struct feed *f, const uint8_t *at, uint32_t size)
{
	struct record rec;

	if (decoder_record(f->decoder, at, size, &rec, NULL)) {
		f->counts.undecodable++;
		return;
	}
	if (record_is_filtered(&rec)) {
		f->counts.filtered = saturating_add(f->counts.filtered, rec.lost.lost);
		return;
	}
	f->counts.lost = saturating_add(f->counts.lost, rec.lost.lost);
	f->counts.lost_records += rec.type == PERF_RECORD_LOST;
}

/* Notes whether the file contains records of virtual machines: perf inject --guest-data adds them,
 * and lists their ids in an ID_INDEX. */
static void scan_ids(struct feed *f, const uint8_t *at, uint32_t size)
{
	const struct record_id_index *x;
	struct record rec;

	if (decoder_record(f->decoder, at, size, &rec, NULL)) {
		f->counts.undecodable++;
		return;
	}
	x = &rec.id_index;
	for (uint64_t i = 0; x->guests && i < x->nr && !f->has_guests; i++)
		f->has_guests = decoder_u64_at(f->decoder, x->guests, 2 * i);
}

static void end_round(struct feed *f, uint64_t position)
{
	f->before_ns = f->round_ns;
	f->before_end = f->round_end;
	f->round_ns = f->newest_ns;
	f->round_end = position;
}

static int scan_record(struct feed *f, const uint8_t *at, uint32_t type, uint32_t size,
		       uint64_t end)
{
	if (type == PERF_RECORD_SAMPLE)
		scan_sample(f, at, size);
	else if (type == FINISHED_ROUND && !perf_input_info(f->in)->is_directory)
		end_round(f, end);
	else if (resolver_takes(type) || type == RECORD_CALLCHAIN_DEFERRED)
		return scan_side_band(f, at, size);
	else if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
		scan_lost(f, at, size);
	else if (type == RECORD_ID_INDEX)
		scan_ids(f, at, size);
	return 0;
}

/* Reads the header of the record at `pos` in native byte order. Returns false after the last
 * complete record. */
static bool header_at(const struct feed *f, const struct perf_chunk *chunk, size_t pos,
		      struct perf_event_header *h)
{
	if (chunk->len - pos < HEADER_BYTES)
		return false;
	memcpy(h, chunk->bytes + pos, sizeof(*h));
	if (f->decoder->swap) {
		h->type = __builtin_bswap32(h->type);
		h->misc = __builtin_bswap16(h->misc);
		h->size = __builtin_bswap16(h->size);
	}
	return h->size >= HEADER_BYTES && h->size <= chunk->len - pos;
}

/* Prefetches the fixed fields of a later record, as records with stacks mostly have the same
 * size. They were read before, but so many pages ago that the TLB has lost their addresses. */
static inline void replay_feed_prefetch_far(const struct perf_chunk *chunk, size_t pos,
					    size_t size)
{
	const uint8_t *ahead = chunk->bytes + pos + AHEAD_RECORDS * size;

	if (size < FAR_BYTES || (AHEAD_RECORDS + 1) * size > chunk->len - pos)
		return;
	__builtin_prefetch(ahead);
	__builtin_prefetch(ahead + LINE_BYTES);
}

const uint8_t *feed_walk_sample(const struct feed *f, const struct perf_chunk *chunk,
				struct feed_walk *walk, uint32_t *ret_size)
{
	struct perf_event_header h;

	while (header_at(f, chunk, walk->pos, &h)) {
		const uint8_t *at = chunk->bytes + walk->pos;

		walk->pos += h.size;
		walk->order++;
		if (h.type == PERF_RECORD_SAMPLE) {
			replay_feed_prefetch_far(chunk, walk->pos - h.size, h.size);
			*ret_size = h.size;
			return at;
		}
	}
	return NULL;
}

/* Like scan_record(), for the samples from `pos` on, if all samples have the time at the same
 * offset, as in nearly all files. Stores the results once at the end instead of for each sample.
 * Returns the position after the samples. */
static size_t scan_samples(struct feed *f, const struct perf_chunk *chunk, size_t pos)
{
	uint64_t oldest_ns = UINT64_MAX, newest_ns = 0;
	uint64_t nr = 0;
	size_t time_end = f->time_at + sizeof(uint64_t);
	struct perf_event_header h;

	for (; header_at(f, chunk, pos, &h) && h.type == PERF_RECORD_SAMPLE; nr++) {
		uint64_t time_ns = h.size >= time_end
					   ? replay_feed_load_u64(
						     f, chunk->bytes + pos + f->time_at)
					   : 0;

		/* Subtract 1, so that a missing time (0) becomes the greatest value. */
		oldest_ns = time_ns - 1 < oldest_ns ? time_ns - 1 : oldest_ns;
		newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
		pos += h.size;
	}
	f->counts.by_type[PERF_RECORD_SAMPLE] += nr;
	f->order += nr;
	if (newest_ns) {
		replay_feed_note_span(f, oldest_ns + 1);
		replay_feed_note_span(f, newest_ns);
	}
	return pos;
}

static int scan_chunk(struct feed *f, const struct perf_chunk *chunk)
{
	struct perf_event_header h;
	size_t pos = 0;

	while (header_at(f, chunk, pos, &h)) {
		uint32_t type =
			h.type < FEED_RECORD_TYPES ? h.type : FEED_RECORD_TYPES - 1;
		size_t nr_side = side_band_waiting(&f->side);
		int r;

		if (type == PERF_RECORD_SAMPLE && f->time_at) {
			pos = scan_samples(f, chunk, pos);
			continue;
		}
		f->counts.by_type[type]++;
		r = scan_record(f, chunk->bytes + pos, h.type, h.size,
				f->position + pos + h.size);
		if (r)
			return r;
		/* The file was changed while it was read, so its bytes are not those of the
		 * recording. */
		if (side_band_waiting(&f->side) > nr_side &&
		    perf_chunk_is_lost(chunk)) {
			side_band_unadd(&f->side);
			f->counts.undecodable++;
		}
		f->order++;
		pos += h.size;
	}
	return 0;
}

static void set_size(const struct feed *f, uint8_t *record, size_t size)
{
	const size_t at = offsetof(struct perf_event_header, size);
	uint16_t v = (uint16_t)size;

	if (f->decoder->swap)
		v = __builtin_bswap16(v);
	memcpy(record + at, &v, sizeof(v));
}

/* Replaces a waiting chunk by the heads of its records. A waiting chunk blocks its window of
 * the input, and with stacks most of it is never read. Keeps the fixed fields of samples, and
 * only the headers of other records, which are scanned already but still count. If memory is
 * short, the chunk stays as it is. Stops after the `nr` records that were counted, as there is
 * no room for more: another process can add records to a mapped file. */
static void keep_heads(struct feed *f, struct perf_chunk *chunk, uint64_t nr)
{
	struct perf_event_header h;
	struct perf_chunk heads;
	uint8_t *to, *from;
	size_t pos = 0;

	if (!f->heads_only || chunk->len < nr * LONG_BYTES ||
	    perf_chunk_make(chunk, nr * HEAD_BYTES, &heads, &from))
		return;
	for (to = from; nr && header_at(f, chunk, pos, &h); pos += h.size, nr--) {
		size_t size = h.type != PERF_RECORD_SAMPLE ? HEADER_BYTES
			      : h.size < HEAD_BYTES        ? h.size
							   : HEAD_BYTES;

		/* Nearly all records have the full length; a constant size compiles to a few
		 * moves. */
		if (size == HEAD_BYTES)
			memcpy(to, chunk->bytes + pos, HEAD_BYTES);
		else
			memcpy(to, chunk->bytes + pos, size);
		set_size(f, to, size);
		to += size;
	}
	heads.len = (size_t)(to - from);
	/* If the chunk was lost, keep it, because it reports the loss. */
	if (!perf_chunk_is_lost(chunk)) {
		struct perf_chunk whole = *chunk;

		*chunk = heads;
		heads = whole;
	}
	perf_input_release(f->in, &heads);
	f->gathers = true;
}

/* Reads, scans and queues one chunk. Returns 0, 1 at the end of the input, or a negative errno. */
static int read_chunk(struct feed *f, struct err *err)
{
	struct feed_chunk next = { .order = f->order,
				   .begin = f->position,
				   .oldest_ns = f->before_ns };
	int r = perf_input_next(f->in, &next.chunk, err);

	if (r)
		return r;
	r = scan_chunk(f, &next.chunk);
	f->position += next.chunk.len;
	f->counts.records = f->order;
	next.end = f->position;
	if (!r)
		keep_heads(f, &next.chunk, f->order - next.order);
	f->waiting_bytes += next.chunk.len;
	if (!r && vec_push(&f->waiting, next))
		return 0;
	perf_input_release(f->in, &next.chunk);
	return err_set(err, -ENOMEM, "out of memory");
}

/* Removes the first `nr` waiting chunks, which have another owner now. */
static void drop_waiting(struct feed *f, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		f->waiting_bytes -= f->waiting.at[i].chunk.len;
	if (nr)
		memmove(f->waiting.at, f->waiting.at + nr,
			(f->waiting.nr - nr) * sizeof(*f->waiting.at));
	f->waiting.nr -= nr;
}

/* Moves the first `nr` waiting chunks to the batch, with the side band that their samples need. */
static int take_chunks(struct feed *f, size_t nr, uint64_t frontier_ns,
		       struct feed_batch *batch)
{
	size_t taken = 0;

	if (side_band_move(&f->side, frontier_ns, &batch->side))
		return -ENOMEM;
	while (taken < nr && vec_push(&batch->chunks, f->waiting.at[taken]))
		taken++;
	drop_waiting(f, taken);
	if (taken < nr)
		return -ENOMEM;
	batch->frontier_ns = frontier_ns;
	batch->has_guests = f->has_guests;
	f->applied_ns = frontier_ns;
	/* If some side-band records have no time, the end of a task can be unknown, so keep
	 * all. */
	if (f->timeless)
		batch->forget_ns = frontier_ns;
	else if (!f->untimed_side)
		batch->forget_ns =
			f->waiting.nr ? f->waiting.at[0].oldest_ns : f->before_ns;
	return 0;
}

static size_t count_ready(const struct feed *f)
{
	size_t nr = 0;

	while (nr < f->waiting.nr && f->waiting.at[nr].end <= f->before_end)
		nr++;
	return nr;
}

/* Skips the input that the batches before have used. Chunks can end at other positions than the
 * first time: keeps the rest of a chunk that crosses `position`. */
static int skip_to(struct feed *f, uint64_t position, struct err *err)
{
	uint64_t at = 0;

	while (at < position) {
		struct perf_chunk chunk;
		int r = perf_input_next(f->in, &chunk, err);

		if (r)
			return r < 0 ? r : 0;
		if (chunk.len > position - at) {
			chunk.bytes += position - at;
			chunk.len -= position - at;
			f->rest = chunk;
			return 0;
		}
		at += chunk.len;
		perf_input_release(f->in, &chunk);
	}
	return 0;
}

/* Reads the whole side band first, then starts again with the samples. Used if the rounds are too
 * long, or if there are none. */
static int collect_ahead(struct feed *f, struct err *err)
{
	uint64_t begin = f->waiting.nr ? f->waiting.at[0].begin : f->position;
	int r;

	do {
		release_all(f, f->waiting.at, f->waiting.nr);
		f->waiting.nr = 0;
		f->waiting_bytes = 0;
		r = read_chunk(f, err);
	} while (!r);
	if (r < 0)
		return r;
	r = perf_input_rewind(f->in, err);
	if (r)
		return r;
	f->know_all = true;
	return skip_to(f, begin, err);
}

/* Makes a batch of the next chunk. Used when the whole side band has been read, so that no chunk
 * must wait. Returns 0, 1 at the end, or a negative errno. */
static int next_known(struct feed *f, struct feed_batch *batch, struct err *err)
{
	struct feed_chunk next = { .chunk = f->rest };
	int r = f->rest.len ? 0 : perf_input_next(f->in, &next.chunk, err);

	f->rest = (struct perf_chunk){ 0 };
	if (r)
		return r;
	if (side_band_move(&f->side, UINT64_MAX, &batch->side) ||
	    !vec_push(&batch->chunks, next)) {
		perf_input_release(f->in, &next.chunk);
		return err_set(err, -ENOMEM, "out of memory");
	}
	batch->frontier_ns = UINT64_MAX;
	batch->has_guests = f->has_guests;
	return 0;
}

static int replay_feed_finish(struct feed *f, struct feed_batch *batch, struct err *err)
{
	f->ended = true;
	if (take_chunks(f, f->waiting.nr, UINT64_MAX, batch))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Makes a batch of the chunks that have waited longest, with the side band known so far. Used for
 * a pipe, which cannot be read twice. */
static int next_unfinished(struct feed *f, struct feed_batch *batch, struct err *err)
{
	if (take_chunks(f, f->waiting.nr / 2, f->newest_ns, batch))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Moves waiting chunks that are complete to the batch. Returns 1 if a batch was made, or 0 if
 * more must be read first. With heads only, collects many small chunks: each wait for the disk
 * evicts tables from the CPU caches. */
static int take_ready(struct feed *f, struct feed_batch *batch, struct err *err)
{
	size_t nr = f->timeless ? f->waiting.nr : count_ready(f);

	if (!nr || (f->timeless && f->hold_all) ||
	    (f->gathers && f->waiting_bytes < GATHER_BYTES))
		return 0;
	if (take_chunks(f, nr, f->timeless ? f->order : f->before_ns, batch))
		return err_set(err, -ENOMEM, "out of memory");
	return 1;
}

/* Reads until a batch is complete (returns 1) or the whole side band is known (returns 0). */
static int next_in_rounds(struct feed *f, struct feed_batch *batch, struct err *err)
{
	while (!f->know_all) {
		int r = read_chunk(f, err);

		if (r > 0) {
			r = replay_feed_finish(f, batch, err);
			return r ? r : 1;
		}
		if (!r)
			r = take_ready(f, batch, err);
		if (r)
			return r;
		if (f->hold_all || f->waiting_bytes <= WAITING_BYTES)
			continue;
		if (perf_input_info(f->in)->is_pipe) {
			r = next_unfinished(f, batch, err);
			return r ? r : 1;
		}
		r = collect_ahead(f, err);
		if (r)
			return r;
	}
	return 0;
}

/* Returns whether to collect the side band first: the rounds of a directory's files are
 * independent of each other. */
static bool must_collect(const struct feed *f)
{
	return perf_input_info(f->in)->is_directory && !f->know_all && !f->timeless &&
	       !f->hold_all;
}

int feed_next(struct feed *f, struct feed_batch *ret_batch, struct err *err)
{
	int r = 0;

	*ret_batch = (struct feed_batch){ 0 };
	if (f->ended)
		return 1;
	if (must_collect(f))
		r = collect_ahead(f, err);
	if (!r)
		r = next_in_rounds(f, ret_batch, err);
	if (r)
		return r < 0 ? r : 0;
	return next_known(f, ret_batch, err);
}
