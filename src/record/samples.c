/* SPDX-License-Identifier: GPL-2.0-or-later */
/* samples.c - handles a recording's samples. Samples newer than the frontier are held; samples
 * whose stacks need an unfinished unwind table wait in due_samples. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "record/perf_data_out.h"
#include "record/priv.h"

enum {
	CPUS_MAX = 65536,
	GROUP_SAMPLES = 32
};

static const uint64_t tables_wait_ns = 500 * (uint64_t)NS_PER_MS;
static const uint64_t tables_wait_all_ns = 5000 * (uint64_t)NS_PER_MS;

/* Returns whether a sample is written to perf.data only after its callers were found. */
static bool is_written_later(const struct recorder *r)
{
	return r->config.stack_bytes || r->deferred.offered;
}

/* Writes a sample to perf.data with the callers that were found. */
static int write_unwound(struct recorder *r, const struct record *rec,
			 const void *bytes)
{
	struct perf_data_callers callers;

	struct record whole = *rec;
	uint64_t nr = rec->sample.nr_chain;

	callers.at = resolver_last_unwound(r->resolver, &callers.nr);
	/* perf reads the end marker of callers that never arrived as a broken chain. */
	if (r->deferred.offered && nr &&
	    decoder_chain_at(&r->decoder, &rec->sample, nr - 1) == UINT64_MAX)
		whole.sample.nr_chain--;
	return perf_data_out_sample(r->perf_data, &r->decoder.attrs.at[rec->id.event],
				    &whole, bytes, callers, r->err);
}

/* Counts a sample of the CPU; does nothing for invalid CPU numbers or if memory is short. */
static void count_cpu(struct recorder *r, uint32_t cpu)
{
	while (r->cpu_samples.nr <= cpu)
		if (cpu > CPUS_MAX || !vec_push(&r->cpu_samples, 0))
			return;
	r->cpu_samples.at[cpu]++;
}

const uint64_t *recorder_cpu_samples(const struct recorder *r, size_t *ret_nr_cpus)
{
	*ret_nr_cpus = r->cpu_samples.nr;
	return r->cpu_samples.at;
}

/* Adds a resolved sample to the session unless the configuration excludes it. Returns 0, or a
 * negative errno with a message in *r->err. */
static int add_resolved(struct recorder *r, const struct record *rec, const void *bytes,
			const struct sample *sample)
{
	int result;

	if (r->config.is_wanted &&
	    !r->config.is_wanted(r->config.ctx, &r->dict, sample)) {
		r->nr_settled++;
		return 0;
	}
	result = segment_writer_add(r->writer, sample);
	if (result)
		return err_set(r->err, result, "out of memory");
	r->nr_settled++;
	r->totals.samples++;
	count_cpu(r, sample->cpu);
	if (r->config.on_sample)
		r->config.on_sample(r->config.ctx, &r->dict, sample);
	if (!r->perf_data)
		return 0;
	perf_data_out_saw(r->perf_data, sample->time_ns);
	return is_written_later(r) ? write_unwound(r, rec, bytes) : 0;
}

/* ---- groups ---- */

static int recorder_take_group(void *ctx, size_t from, size_t to)
{
	struct recorder *r = ctx;
	int result = 0;

	for (; from < to && !result; from++) {
		const struct grouped_sample *s = &r->group.samples[from];

		result = add_resolved(r, &s->rec, s->bytes, &s->sample);
	}
	return result;
}

/* Keeps a sample whose unwind table is being made. */
static int keep_due(void *ctx, size_t at)
{
	struct recorder *r = ctx;
	const struct grouped_sample *s = &r->group.samples[at];

	return due_samples_add(&r->due, &s->rec, s->bytes, s->len, r->stacks.missing);
}

/* Returns the number of samples to collect before they are resolved together. Samples of event
 * groups are only valid during the call, and samples for perf.data are written as soon as their
 * stacks are found, so both kinds are resolved one by one. Samples without copied stacks are also
 * resolved one by one. */
static size_t group_size(const struct recorder_config *c)
{
	for (size_t i = 0; i < c->nr_events; i++)
		if (c->events[i].leads)
			return 1;
	return c->stack_bytes && !c->perf_data ? GROUP_SAMPLES : 1;
}

int recorder_open_group(struct recorder *r)
{
	const struct sample_sink sink = { recorder_take_group, keep_due, r };
	size_t size = group_size(&r->config);
	int result =
		sample_group_open(&r->group, r->resolver, &r->decoder, &sink, size);

	return result || size == 1 ? result : sample_group_unwind_ahead(&r->group, 1);
}

int recorder_end_group(void *ctx)
{
	struct recorder *r = ctx;
	int result = sample_group_end(&r->group);

	return result == -ENOMEM ? err_set(r->err, result, "out of memory") : result;
}

/* Adds a sample that is not newer than the frontier; it is already decoded into the next slot of
 * the group. */
static int take_known(struct recorder *r, const void *bytes, size_t len)
{
	struct grouped_sample *s = &r->group.samples[r->group.nr];
	int result = 0;

	s->bytes = bytes;
	s->len = len;
	if (r->deferred.offered)
		result = deferred_samples_join(&r->deferred, &r->decoder, s,
					       r->frontier_ns);
	if (!result && chain_join_place(&r->decoder, &s->chain, &s->rec))
		result = -ENOMEM;
	if (result)
		return result > 0 ? 0 : err_set(r->err, result, "out of memory");
	return sample_group_add(&r->group) ? recorder_end_group(r) : 0;
}

static int take_record(struct recorder *r, const void *bytes, size_t len)
{
	struct record *rec = &r->group.samples[r->group.nr].rec;

	if (decoder_record(&r->decoder, bytes, len, rec, NULL)) {
		const struct perf_event_header *header = bytes;

		r->totals.undecodable++;
		r->nr_settled += header->type == PERF_RECORD_SAMPLE;
		return 0;
	}
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		if (rec->id.time_ns <= r->frontier_ns)
			return take_known(r, bytes, len);
		/* The side band of this time is not complete yet: hold the sample until the next
		 * round. */
		buf_put(&r->held, bytes, len);
		return r->held.failed ? err_set(r->err, -ENOMEM, "out of memory") : 0;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		r->lost_in_records += rec->lost.lost;
		return 0;
	case PERF_RECORD_THROTTLE:
		r->totals.throttled++;
		return 0;
	default:
		return 0;
	}
}

int recorder_take_sample(void *ctx, const void *bytes, size_t len)
{
	const struct perf_event_header *header = bytes;
	struct recorder *r = ctx;
	int result = take_record(r, bytes, len);

	r->nr_taken += header->type == PERF_RECORD_SAMPLE;
	if (is_written_later(r) && header->type == PERF_RECORD_SAMPLE)
		return result;
	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, bytes, len, r->err);
	return result;
}

/* Handles records that were kept in earlier rounds, and frees `records`. Records can be kept
 * again. */
static int take_kept(struct recorder *r, struct buf records)
{
	int ended, result = 0;

	for (size_t at = 0; at < records.len && !result;) {
		struct perf_event_header header;

		memcpy(&header, records.data + at, sizeof(header));
		result = take_record(r, records.data + at, header.size);
		at += header.size;
	}
	ended = recorder_end_group(r);
	buf_done(&records);
	return result ? result : ended;
}

/* Resolves a waiting sample and adds it. Returns 0, -EAGAIN if it has to wait for another table,
 * or a negative errno with a message in *r->err. */
static int retry(struct recorder *r, struct due_sample *sample)
{
	struct sample resolved;
	struct buf chain = { 0 };
	struct record rec;
	int result;

	if (decoder_record(&r->decoder, sample->bytes, sample->len, &rec, NULL)) {
		r->nr_settled++;
		return 0;
	}
	result = chain_join_place(&r->decoder, &chain, &rec);
	if (!result)
		result = resolver_sample(r->resolver, &r->decoder, &rec, &resolved);
	sample->image = r->stacks.missing;
	if (!result)
		result = add_resolved(r, &rec, sample->bytes, &resolved);
	else if (result != -EAGAIN)
		err_set(r->err, result, "out of memory");
	buf_done(&chain);
	return result;
}

int recorder_take_held(struct recorder *r)
{
	struct buf held = r->held;
	int result = take_kept(r, deferred_samples_take(&r->deferred));

	r->held = (struct buf){ 0 };
	if (!result)
		return take_kept(r, held);
	buf_done(&held);
	return result;
}

static int retry_due(struct recorder *r)
{
	struct due_samples *due = &r->due;
	size_t kept = 0;
	int result = 0;

	for (size_t i = 0; i < due->list.nr; i++) {
		struct due_sample *sample = &due->list.at[i];

		if (!result && recorder_stacks_have(&r->stacks, sample->image)) {
			result = retry(r, sample);
			if (result != -EAGAIN)
				continue;
			result = 0;
		}
		due->list.at[kept++] = *sample;
	}
	if (kept)
		due_samples_keep(due, kept);
	else
		due_samples_done(due);
	return result;
}

int recorder_take_due(struct recorder *r)
{
	return recorder_stacks_take_tables(&r->stacks, 0) ? retry_due(r) : 0;
}

/* Returns the time until which to wait for tables. If a helper process makes them, the wait is
 * limited, both for each call and for the whole recording: the helper reads files that any user
 * can write, so a hostile file can take long, and any user can request a dump. Without a helper,
 * there is no limit. */
static uint64_t table_patience(const struct recorder *r, uint64_t now)
{
	uint64_t left = r->waited_ns < tables_wait_all_ns
				? tables_wait_all_ns - r->waited_ns
				: 0;

	if (!r->stacks.maker.helper)
		return UINT64_MAX;
	return now + (left < tables_wait_ns ? left : tables_wait_ns);
}

int recorder_settle_due(struct recorder *r)
{
	uint64_t begin = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t until = table_patience(r, begin);
	int result = 0;

	/* Samples can still wait after this loop: the time limit was reached, or no table is being
	 * made any more, for example because memory was short. */
	while (!result && r->due.list.nr &&
	       recorder_stacks_take_tables(&r->stacks, until))
		result = retry_due(r);
	r->waited_ns += clock_now_ns(CLOCK_MONOTONIC) - begin;
	if (!result && r->due.list.nr) {
		recorder_stacks_hurry(&r->stacks, true);
		result = retry_due(r);
		recorder_stacks_hurry(&r->stacks, false);
		/* The group has cached that the images have no tables, but they may get some
		 * later. */
		sample_group_forget_tables(&r->group);
	}
	return result;
}
