/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rounds.c - the rounds of a recording, which drain the rings, and its end. */
#include "record/recorder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "capture/source/perf_source.h"
#include "capture/source/snapshot.h"
#include "record/keep/copy_list.h"
#include "record/keep/session_dir.h"
#include "record/perf_data_out.h"
#include "record/priv.h"
#include "resolve/unwind/unwind.h"

enum {
	/* Interval between writes; a SIGKILL loses at most the samples of this time. */
	ROUND_NS = NS_PER_S,
	/* Interval between writes for a recording that always runs. It wakes up less often, because
	 * each wakeup finds cold CPU caches, which costs more than the work itself. */
	PATIENT_ROUND_NS = 2 * NS_PER_S,
	/* Interval between drains while the recorder must read the rest of long stacks soon. */
	HURRY_NS = 20 * NS_PER_MS,
	/* Limit of the memory for samples that wait for unwind tables. */
	DUE_MAX_BYTES = 256 << 20,
	/* Limit of the memory for waiting samples if all of them wait for jitdumps, for which they
	 * can wait until the process ends. */
	DUE_DUMP_BYTES = 64 << 20,
	FLUSH_SAMPLES = 64 * 1024 /* flush early when this many samples wait */
};

static uint64_t own_cpu_ns(void)
{
	return clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

const struct session_totals *recorder_totals(const struct recorder *r)
{
	return &r->totals;
}

/* ---- recording ---- */

void recorder_keep_jit(struct recorder *r, const struct record *rec)
{
	if (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2)
		jit_store_mapped(&r->jit_store, &rec->mmap);
}

/* Returns the record with its real size. If several recordings receive a record, some kernels
 * report a size that is too large (decoder_own_bytes()), and readers of perf.data do not expect the
 * extra bytes. Stores the size in *len. Returns NULL if memory is short. */
static const void *own_record(struct recorder *r, const void *record, size_t *len)
{
	size_t own = decoder_own_bytes(&r->decoder, record, *len);
	struct perf_event_header header;

	if (!own || own >= *len)
		return record;
	memcpy(&header, record, sizeof(header));
	header.size = (uint16_t)own;
	buf_clear(&r->own_record);
	buf_put(&r->own_record, &header, sizeof(header));
	buf_put(&r->own_record, (const uint8_t *)record + sizeof(header),
		own - sizeof(header));
	*len = own;
	return r->own_record.failed ? NULL : r->own_record.data;
}

int recorder_judge(struct recorder *r, int result)
{
	r->failed |= result != 0;
	/* Callbacks fail without a message if memory is short. */
	return result && r->err && !r->err->text[0]
		       ? err_sys(r->err, result, "cannot record all samples")
		       : result;
}

static int take_side_record(struct recorder *r, const void *record, size_t len)
{
	int result;
	struct record rec;
	uint64_t time_ns;
	const char *name;

	record = own_record(r, record, &len);
	if (!record)
		return err_set(r->err, -ENOMEM, "out of memory");
	if (perf_source_module_event(r->source, record, len, &name, &time_ns)) {
		module_watch_reported(&r->modules, name, time_ns);
		return 0;
	}
	if (decoder_record(&r->decoder, record, len, &rec, NULL)) {
		r->totals.undecodable++;
		return 0;
	}
	if (rec.type == RECORD_CALLCHAIN_DEFERRED)
		return deferred_chains_add(&r->deferred.chains, &rec);
	recorder_attend_to(r, &rec);
	if (rec.type == PERF_RECORD_FORK && r->config.on_fork)
		r->config.on_fork(r->config.ctx, rec.task.pid, rec.task.ppid);
	if (rec.type == PERF_RECORD_LOST)
		r->lost_side_band += rec.lost.lost;
	result = side_band_add(&r->side_band, rec.id.time_ns, record, len);
	if (!result && r->perf_data)
		result = perf_data_out_write(r->perf_data, record, len, r->err);
	return result;
}

int recorder_take_side_band(void *ctx, const void *record, size_t len)
{
	struct recorder *r = ctx;
	int result = take_side_record(r, record, len);

	r->nr_side_band++;
	/* The record has left the ring, so it cannot be read again. */
	r->lost_side_band += result == -ENOMEM;
	return result;
}

int recorder_enable(struct recorder *r, bool on, struct err *err)
{
	int result = perf_source_enable(r->source, on);

	return result ? err_sys(err, result, "cannot %s the perf events",
				on ? "start" : "stop")
		      : 0;
}

int recorder_poll_fd(const struct recorder *r)
{
	return perf_source_poll_fd(r->source);
}

int recorder_timeout_ms(const struct recorder *r)
{
	uint64_t now = clock_initial_ns(CLOCK_MONOTONIC);
	uint64_t next = r->next_flush_ns;

	if (now < r->hurry_until_ns && r->frontier_ns + HURRY_NS < next)
		next = r->frontier_ns + HURRY_NS;
	return now >= next ? 0 : (int)((next - now) / NS_PER_MS) + 1;
}

/* Sets how long to drain the rings more often. This is needed if some stacks were longer than their
 * copies: the rest of such a stack is read from the memory of its process, which soon changes it.
 * It is also needed while unwind tables are being made. */
static void see_rests(struct recorder *r)
{
	uint64_t tried = resolver_unwind_rests(r->resolver).tried;

	if (r->config.patient)
		return;
	if (tried != r->nr_rests || recorder_stacks_is_making(&r->stacks))
		r->hurry_until_ns = r->frontier_ns + ROUND_NS;
	r->nr_rests = tried;
}

static int apply_side_record(void *ctx, const struct timed_record *record)
{
	struct recorder *r = ctx;
	struct record rec;
	int result;

	if (decoder_record(&r->decoder, record->bytes, record->size, &rec, NULL))
		return 0;
	result = resolver_side_band(r->resolver, &rec);
	r->lost_side_band += result != 0;
	return result;
}

/* Applies the side-band records that are not newer than the frontier. Returns 0, or -ENOMEM with a
 * message. */
static int apply_side_band(struct recorder *r)
{
	return side_band_give(&r->side_band, r->frontier_ns, apply_side_record, r)
		       ? err_set(r->err, -ENOMEM, "out of memory")
		       : 0;
}

/* Drains and applies the side band. Its CPU time is measured separately, because it depends on the
 * processes' activity and not on the sampling rate. */
static int drain_side_band(struct recorder *r)
{
	uint64_t began_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
	int result = recorder_look_at_modules(r);

	if (!result)
		result = perf_source_drain(r->source, PERF_SOURCE_SIDE_BAND,
					   recorder_take_side_band, r);
	if (!result && module_watch_is_reported(&r->modules))
		result = recorder_look_at_modules(r);
	recorder_read_symbols(r);
	if (!result)
		result = apply_side_band(r);
	r->side_band_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
	return result;
}

static size_t due_max_bytes(const struct recorder *r)
{
	return recorder_stacks_is_making(&r->stacks) ? DUE_MAX_BYTES : DUE_DUMP_BYTES;
}

/* Frees address spaces that no sample after `before_ns` needs. Side-band records created them, so
 * this CPU time is a cost of the side band. */
static void free_history(struct recorder *r, uint64_t before_ns)
{
	uint64_t began_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	resolver_frontier(r->resolver, before_ns);
	r->side_band_ns += clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}

static int recorder_drain(struct recorder *r)
{
	uint64_t since;
	int result;

	r->nr_rounds++;
	if (recorder_stacks_trim(&r->stacks, clock_now_ns(CLOCK_MONOTONIC)))
		sample_group_forget_tables(&r->group);
	/* The rings, which are drained after this, contain all events before this moment. */
	r->frontier_ns = clock_initial_ns(CLOCK_MONOTONIC);
	result = drain_side_band(r);
	if (!result)
		result = recorder_take_held(r);
	if (!result)
		result = due_samples_bytes(&r->due) > due_max_bytes(r)
				 ? recorder_settle_due(r)
				 : recorder_take_due(r);
	if (!result)
		result = perf_source_drain_samples(r->source, recorder_take_sample,
						   recorder_end_group, r);
	since = due_samples_since(&r->due);
	if (deferred_samples_since(&r->deferred) < since)
		since = deferred_samples_since(&r->deferred);
	deferred_samples_forget(&r->deferred, r->frontier_ns);
	free_history(r, since < r->frontier_ns ? since : r->frontier_ns);
	see_rests(r);
	return recorder_judge(r, result);
}

static void recorder_update_totals(struct recorder *r)
{
	r->totals.lost = r->lost_in_records;
	r->totals.lost_records = r->lost_side_band;
	r->totals.end_ns = clock_initial_ns(CLOCK_MONOTONIC);
	r->totals.recorder_cpu_ns = own_cpu_ns() - r->cpu_begin_ns;
	for (size_t i = 0; i < UNWIND_ENDS; i++)
		r->totals.stack_ends[i] = resolver_unwind_ends(r->resolver)[i];
}

/* Updates the number of lost samples from the kernel's counters, which include losses since the
 * last LOST record. Call it only at the end, because each read interrupts the CPU of the event. */
static void count_lost(struct recorder *r)
{
	uint64_t lost;

	if (!perf_source_lost(r->source, &lost) && lost > r->totals.lost)
		r->totals.lost = lost;
}

/* Computes the number of dropped samples: those that were read from the rings or left in them, but
 * never resolved, because a round failed. */
static void count_dropped(struct recorder *r)
{
	uint64_t pending =
		r->nr_taken > r->nr_settled ? r->nr_taken - r->nr_settled : 0;

	r->totals.dropped = pending + r->nr_unread;
}

static double time_share(const struct recorder *r, size_t attr)
{
	uint64_t enabled, running;

	perf_source_times(r->source, attr, &enabled, &running);
	return enabled ? (double)running / (double)enabled : 0;
}

/* Computes the share of the time in which each event had a counter, in case of more events than
 * counters. The side band never waits for a counter, so its running time is the whole. */
static void count_shares(struct recorder *r)
{
	size_t nr = r->config.nr_events;
	double whole = time_share(r, perf_source_nr_attrs(r->source) - 1);

	for (size_t i = 0; i < nr && i < SESSION_EVENT_SHARES && whole > 0; i++) {
		uint32_t type = r->config.events[i].attr.type;
		double share = time_share(r, i) / whole;

		if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
		    share <= 0)
			continue;
		r->totals.event_shares[i] =
			(uint16_t)(1 + SESSION_SHARE_WHOLE * (share < 1 ? share : 1));
	}
}

/* Copies the JIT files of ended processes that are on mounts which can disappear. */
static void save_gone(struct recorder *r)
{
	jit_store_save_gone(&r->jit_store, r->config.dir->writing,
			    r->config.copies ? r->config.copies : &r->own_copies);
	(void)copy_list_make(&r->own_copies, NULL);
}

static int recorder_flush(struct recorder *r)
{
	int result = segment_writer_flush(r->writer, &r->totals, r->err);

	r->nr_writes++;
	jit_store_look(&r->jit_store, &r->dict);
	image_store_look(&r->image_store);
	save_gone(r);
	/* A round mark states that no older record follows, so do not write one while samples
	 * wait. */
	if (!result && r->perf_data && !r->due.list.nr &&
	    deferred_samples_since(&r->deferred) == UINT64_MAX)
		result = perf_data_out_round(r->perf_data, r->err);
	return result;
}

static uint64_t longer_round_ns(const struct recorder *r)
{
	uint64_t longest = r->config.patient ? PATIENT_ROUND_NS : ROUND_NS;

	return 2 * r->round_ns < longest ? 2 * r->round_ns : longest;
}

int recorder_round(struct recorder *r, struct err *err)
{
	uint64_t now;
	int result;

	r->err = err;
	result = recorder_drain(r);
	now = clock_initial_ns(CLOCK_MONOTONIC);
	if (!result && (now >= r->next_flush_ns ||
			segment_writer_pending(r->writer) >= FLUSH_SAMPLES)) {
		r->next_flush_ns = now + r->round_ns;
		r->round_ns = longer_round_ns(r);
		recorder_update_totals(r);
		result = recorder_flush(r);
	}
	return result;
}

int recorder_dump(struct recorder *r, struct err *err)
{
	int result;

	r->err = err;
	result = recorder_drain(r);
	if (!result)
		result = recorder_judge(r, recorder_settle_due(r));
	if (result)
		return result;
	/* If there are no new samples, write nothing: any user can request dumps, which would fill
	 * the disk with blocks of totals. */
	if (!segment_writer_pending(r->writer))
		return 0;
	r->next_flush_ns = clock_initial_ns(CLOCK_MONOTONIC) + r->round_ns;
	recorder_update_totals(r);
	return recorder_flush(r);
}

/* ---- the end ---- */

void recorder_free(struct recorder *r)
{
	perf_source_close(r->source);
	snapshot_free(r->snapshot);
	vec_done(&r->processes);
	sample_group_done(&r->group);
	resolver_free(r->resolver);
	recorder_stacks_done(&r->stacks);
	image_store_done(&r->image_store);
	containers_done(&r->containers);
	jit_store_done(&r->jit_store);
	copy_list_done(&r->own_copies);
	side_band_done(&r->side_band);
	module_watch_done(&r->modules);
	recorder_end_symbols(r);
	vec_done(&r->symbols_due);
	vec_done(&r->cpu_samples);
	buf_done(&r->held);
	buf_done(&r->own_record);
	due_samples_done(&r->due);
	deferred_samples_done(&r->deferred);
	decoder_done(&r->decoder);
	dict_done(&r->dict);
	free(r->segment_path);
	free(r);
}

/* Stops sampling, drains the rings, resolves all samples that still wait, and computes the
 * totals. */
static int drain_to_end(struct recorder *r)
{
	int result;

	perf_source_enable(r->source, false);
	result = recorder_drain(r);
	recorder_end_symbols(r);
	/* Sampling has stopped, so no older record can arrive: resolve the held samples. */
	r->frontier_ns = UINT64_MAX;
	if (!result)
		result = apply_side_band(r);
	if (!result)
		result = recorder_take_held(r);
	if (!result)
		result = recorder_settle_due(r);
	/* After a failure, samples are left in the rings. */
	r->nr_unread = perf_source_drop_samples(r->source);
	recorder_update_totals(r);
	count_lost(r);
	count_shares(r);
	count_dropped(r);
	r->stopped = true;
	return recorder_judge(r, result);
}

int recorder_stop(struct recorder *r, struct err *err)
{
	int result;

	r->err = err;
	result = drain_to_end(r);
	return result ? result : recorder_flush(r);
}

void recorder_discard(struct recorder *r)
{
	struct session_totals totals;
	char *path;
	uint64_t bytes;

	if (!r)
		return;
	if (!r->writer) {
		recorder_free(r);
		return;
	}
	path = r->segment_path;
	r->segment_path = NULL;
	recorder_close(r, -1, &totals, &bytes, NULL);
	(void)io_unlink(path);
	free(path);
}

static void report_end(const struct recorder *r)
{
	struct resolver_kept kept = resolver_kept(r->resolver);

	log_say(LOG_DEBUG,
		"rounds: %llu, of which %llu were written; "
		"records of mappings and processes: "
		"%llu",
		(unsigned long long)r->nr_rounds, (unsigned long long)r->nr_writes,
		(unsigned long long)r->nr_side_band);
	if (r->config.stack_bytes) {
		struct resolver_rests rests = resolver_unwind_rests(r->resolver);

		log_say(LOG_DEBUG,
			"%llu stacks were longer than their copies; the rest of %llu was read from the processes",
			(unsigned long long)rests.tried,
			(unsigned long long)rests.found);
	}
	log_say(LOG_DEBUG,
		"the session contains %zu names, %zu images, %zu threads, %zu positions and %zu stacks; in memory at the end: %zu names and %zu images",
		r->dict.strings.strings.nr, r->dict.images.nr, r->dict.threads.nr,
		r->dict.frames.nr, r->dict.stacks.nr - STACK_FIRST, kept.names,
		kept.images);
}

/* Copies the binaries and JIT files that will not be found later, or adds them to config.copies. A
 * perf map can have been created after the first samples in its process, so search for maps
 * again. */
static void save_copies(struct recorder *r)
{
	struct copy_list *copies = r->config.copies ? r->config.copies : &r->own_copies;

	image_store_save_lost(&r->image_store, copies);
	r->jit_store.nr_images = 0;
	r->jit_store.again = true;
	jit_store_look(&r->jit_store, &r->dict);
	jit_store_save(&r->jit_store, r->config.dir->writing, copies);
	(void)copy_list_make(&r->own_copies, NULL);
}

/* Writes what is pending, and closes the segment. If the recording failed, or if the samples cannot
 * be written, marks the segment as incomplete. */
static int close_writer(struct recorder *r, uint64_t *ret_file_bytes, struct err *err)
{
	int result = segment_writer_flush(r->writer, &r->totals, err);
	size_t unwritten = segment_writer_drop(r->writer);
	int closed;

	r->totals.samples -= unwritten;
	r->totals.dropped += unwritten;
	r->totals.finished = !result && !r->failed && !r->totals.dropped;
	*ret_file_bytes = segment_writer_bytes(r->writer);
	closed = r->totals.finished ? segment_writer_close(r->writer, &r->totals, err)
				    : segment_writer_abandon(r->writer, &r->totals,
							     result ? NULL : err);
	return result ? result : closed;
}

int recorder_close(struct recorder *r, int target_status,
		   struct session_totals *ret_totals, uint64_t *ret_file_bytes,
		   struct err *err)
{
	int result, closed;

	r->err = err;
	result = r->stopped ? 0 : drain_to_end(r);
	r->totals.target_status = target_status;
	save_copies(r);
	if (r->perf_data) {
		closed = perf_data_out_close(r->perf_data, &r->dict, &r->machine,
					     r->config.command, r->config.nr_command,
					     err);
		result = result ? result : closed;
	}
	r->totals.recorder_cpu_ns = own_cpu_ns() - r->cpu_begin_ns;
	report_end(r);
	closed = close_writer(r, ret_file_bytes, result ? NULL : err);
	*ret_totals = r->totals;
	recorder_free(r);
	return result ? result : closed;
}
