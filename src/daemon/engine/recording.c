/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording.c - the daemon's recording: a sequence of recorders in one session, each with a
 * separate segment. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "daemon/engine/engine.h"
#include "format/session/session.h"
#include "record/priv.h"
#include "record/recorder.h"

enum {
	STACK_BYTES = 16384, /* the rest of a longer stack is read from its process */
	SECOND_MS = 1000,
	MAP_SHARE = 4 /* a quarter of --max-memory is for mappings */
};

static const uint64_t retry_after_ns = 5 * NS_PER_S;
static const uint64_t report_again_ns = 600 * NS_PER_S;
/* Segments whose clocks differ by this much are not merged (daemon/upkeep/segment_merge.c). */
static const int64_t clock_slack_ns = NS_PER_S;

/* ---- the directory ---- */

int oprofiled_open_dir(struct oprofiled *d, struct err *err)
{
	const char *root = oprofiled_session_dir(d);
	int r;

	if (d->dir_is_open && !strcmp(d->dir.root, root))
		return 0;
	oprofiled_upkeep_end(d);
	retention_begin(&d->upkeep.retention);
	if (d->dir_is_open)
		session_dir_close(&d->dir);
	d->dir_is_open = false;
	r = session_dir_make_current(root, err);
	if (!r)
		r = session_dir_open(root, true, &d->dir, err);
	d->dir_is_open = !r;
	return r;
}

/* ---- one recorder ---- */

/* Returns whether the user turned a separation off; without any setting, reports separate. */
static bool is_turned_off(const struct oprofiled *d, const char *key)
{
	const char *value = daemonrc_get(&d->setup, key);

	return value && !strcmp(value, "0");
}

static uint32_t oprofiled_recording_session_flags(const struct oprofiled *d,
						  const struct event_requests *events)
{
	bool fallback = !daemonrc_nr_events(&d->setup) && events->list.nr &&
			events->list.at[0].timer;

	return SESSION_SYSTEM_WIDE | (fallback ? SESSION_TIMER_FALLBACK : 0) |
	       (oprofiled_setup_flag(d, "SEPARATE_THREAD") ? SESSION_SEPARATE_THREAD
							   : 0) |
	       (oprofiled_setup_flag(d, "SEPARATE_CPU") ? SESSION_SEPARATE_CPU : 0) |
	       (is_turned_off(d, "SEPARATE_LIB") ? SESSION_FLAT_LIBRARIES : 0) |
	       (is_turned_off(d, "SEPARATE_KERNEL") ? SESSION_FLAT_KERNEL : 0);
}

static const char *vmlinux(const struct oprofiled *d)
{
	const char *path = daemonrc_get(&d->setup, "VMLINUX");

	return path && strcmp(path, "none") != 0 ? path : "";
}

static bool oprofiled_recording_is_wanted(void *ctx, const struct dict *dict,
					  const struct sample *sample)
{
	struct oprofiled *d = ctx;

	return sample_filter_keeps(&d->filter, dict, sample);
}

static void take_fork(void *ctx, int32_t pid, int32_t ppid)
{
	struct oprofiled *d = ctx;

	sample_filter_forked(&d->filter, pid, ppid);
}

/* Converts CALLGRAPH, a number of callers, to a number of stack frames, which includes the sampled
 * function; 0: unlimited. */
static uint32_t max_frames(const char *depth)
{
	uint64_t callers;

	return depth && parse_u64_max(depth, INT32_MAX, &callers) && callers
		       ? (uint32_t)callers + 1
		       : 0;
}

/* Prepares the filter and the stream for the samples of d->recorder, which has just started. */
static void oprofiled_recording_begin_samples(struct oprofiled *d)
{
	struct err err = { 0 };

	d->next_report_ns = 0;
	d->upkeep.is_new = true;
	d->clock_gap_ns = d->recorder->clock_gap_ns;
	sample_filter_done(&d->filter);
	if (oprofiled_setup_filter(&d->setup, &d->filter, &err))
		log_say(LOG_WARNING, "%s", err.text);
	oprofiled_stream_begin(d);
}

/* Stores the list of online CPUs. Call it before the recording reads that list, so that a CPU that
 * comes online in between triggers a restart and is not missed. */
static void note_cpus(struct oprofiled *d)
{
	cpu_list_done(&d->cpus);
	d->cpus = (struct cpu_list){ 0 };
	(void)cpu_list_online(&d->cpus);
}

/* Opens a recorder that does not sample yet.  `events` starts empty and outlives the recorder. */
static int oprofiled_recording_open_recorder(struct oprofiled *d,
					     struct event_requests *events,
					     struct recorder **ret_recorder,
					     struct err *err)
{
	const char *depth = daemonrc_get(&d->setup, "CALLGRAPH");
	bool chains = !depth || !*depth || strcmp(depth, "0") != 0;
	const char *how = d->options.callgraph;
	struct recorder_config config = {
		.chains = chains,
		.stack_bytes =
			chains && (!how || strcmp(how, "fp") != 0) ? STACK_BYTES : 0,
		.vmlinux = vmlinux(d),
		.command = d->command,
		.nr_command = d->nr_command,
		.one_of_many = true,
		/* The daemon always runs, and other recorders run at the same time. */
		.no_build_ids = true,
		.patient = true,
		.fair = true,
		.dir = &d->dir,
		.tables = &d->tables,
		.copies = &d->upkeep.copies,
		.max_frames = max_frames(depth),
		.max_map_bytes = d->memory.max_bytes / MAP_SHARE,
		.is_wanted = oprofiled_recording_is_wanted,
		.on_fork = take_fork,
	};
	int r;

	note_cpus(d);
	config.ring_pages = oprofiled_ring_pages(d, config.stack_bytes);
	/* The session may have been moved. */
	r = io_make_dirs(d->dir.current, RECORDING_DIR_MODE);
	if (r)
		return err_sys(err, r, "cannot create '%s'", d->dir.current);
	r = oprofiled_setup_events(d, &d->setup, events, err);
	if (r)
		return r;
	for (size_t i = 0; i < events->list.nr; i++)
		event_request_cap_rate(&events->list.at[i], d->governor.rate_hz);
	config.events = events->list.at;
	config.nr_events = events->list.nr;
	config.session_flags = oprofiled_recording_session_flags(d, events);
	oprofiled_stream_attach(d, &config);
	r = recorder_open(&config, ret_recorder, err);
	if (!config.stack_bytes || (r != -EOPNOTSUPP && r != -ENOSYS && r != -EINVAL))
		return r;
	config.stack_bytes = 0;
	r = recorder_open(&config, ret_recorder, err);
	if (!r)
		log_say(LOG_NOTE,
			"this kernel does not copy stacks: using frame pointers");
	return r;
}

static void add_cpu_samples(struct oprofiled *d, const struct recorder *recorder)
{
	size_t nr;
	const uint64_t *samples = recorder_cpu_samples(recorder, &nr);

	while (d->sums.cpu_samples.nr < nr)
		if (!vec_push(&d->sums.cpu_samples, 0))
			return;
	for (size_t i = 0; i < nr; i++)
		d->sums.cpu_samples.at[i] += samples[i];
}

int oprofiled_close_recorder(struct oprofiled *d, struct recorder *recorder,
			     struct err *err)
{
	struct session_totals totals = { 0 };
	struct err late = { 0 };
	uint64_t bytes;
	int r, closed;

	if (!recorder)
		return 0;
	r = recorder_stop(recorder, err);
	if (r)
		log_say(LOG_WARNING, "%s", err->text);
	add_cpu_samples(d, recorder);
	disk_sync_add(&d->upkeep.sync, recorder->segment_path, true);
	/* The limit that the upkeep also applies to existing copies (daemon/upkeep/copies.h). */
	d->upkeep.copies.max_bytes = d->upkeep.retention.max_bytes / 2;
	d->sums.side_band_ns += recorder->side_band_ns;
	closed = recorder_close(recorder, -1, &totals, &bytes, &late);
	if (closed)
		log_say(LOG_WARNING, "%s", late.text);
	if (closed && !r)
		*err = late;
	d->sums.samples += totals.samples;
	d->sums.dropped += totals.dropped;
	d->sums.lost += totals.lost + totals.dropped;
	malloc_trim(0);
	return r ? r : closed;
}

static void set_next_rotation(struct oprofiled *d)
{
	d->next_rotate_ns = clock_now_ns(CLOCK_MONOTONIC) + d->options.rotate_ns;
}

uint64_t oprofiled_rate_hz(const struct event_requests *events)
{
	uint64_t hz = 0;

	for (size_t i = 0; i < events->list.nr; i++)
		if (events->list.at[i].frequency_hz > hz)
			hz = events->list.at[i].frequency_hz;
	return hz;
}

static void report_begin(const struct oprofiled *d)
{
	const struct event_request *first = &d->events.list.at[0];

	if (first->count)
		log_say(LOG_NOTE, "sampling %s, one sample per %llu events, into %s",
			first->name, (unsigned long long)first->count, d->dir.current);
	else
		log_say(LOG_NOTE, "sampling %s at %llu Hz into %s", first->name,
			(unsigned long long)first->frequency_hz, d->dir.current);
}

int oprofiled_begin(struct oprofiled *d, struct err *err)
{
	int r = oprofiled_metrics_listen(d, err);

	if (!r)
		r = oprofiled_open_dir(d, err);
	events_done(&d->events);
	d->events = (struct event_requests){ 0 };
	if (!r)
		r = oprofiled_recording_open_recorder(d, &d->events, &d->recorder, err);
	if (!r) {
		r = recorder_enable(d->recorder, true, err);
		if (r) {
			recorder_discard(d->recorder);
			d->recorder = NULL;
		}
	}
	if (r)
		return r;
	d->retry_ns = 0;
	d->disk_is_full = false;
	oprofiled_recording_begin_samples(d);
	set_next_rotation(d);
	oprofiled_govern_begin(d);
	report_begin(d);
	return 0;
}

/* Passes the rate that the setup requests to the governor. If that rate has changed, the governor
 * forgets the lower rate that it found. */
static void set_wanted_rate(struct oprofiled *d)
{
	struct event_requests asked = { 0 };
	struct err err = { 0 };
	uint64_t hz;

	(void)oprofiled_setup_events(d, &d->setup, &asked, &err);
	hz = oprofiled_rate_hz(&asked);
	events_done(&asked);
	d->excess_is_reported = false;
	if (hz == d->governor.wanted_hz)
		return;
	d->governor.wanted_hz = hz;
	d->governor.rate_hz = hz;
}

int oprofiled_start(struct oprofiled *d, struct err *err)
{
	int r;

	if (d->recorder)
		return 0;
	r = oprofiled_setup_take(d, err);
	if (r)
		return r;
	set_wanted_rate(d);
	r = oprofiled_begin(d, err);
	d->is_started |= !r;
	return r;
}

int oprofiled_end_recording(struct oprofiled *d, struct err *err)
{
	int r = oprofiled_close_recorder(d, d->recorder, err);

	d->recorder = NULL;
	oprofiled_upkeep_end(d);
	shared_tables_forget(&d->tables);
	return r;
}

int oprofiled_stop(struct oprofiled *d, struct err *err)
{
	bool was_running = d->recorder;
	int gone = oprofiled_is_removed(d) ? oprofiled_report_removed(d, err) : 0;
	struct err late = { 0 };
	int r = oprofiled_end_recording(d, gone ? &late : err);

	r = gone ? gone : r;
	if (was_running)
		log_say(LOG_NOTE, "sampling has stopped");
	d->retry_ns = 0;
	d->is_started = false;
	/* If this fails (memory is short), the next start applies the requested settings. */
	(void)oprofiled_setup_take(d, &late);
	return r;
}

int oprofiled_restart(struct oprofiled *d, struct err *err)
{
	struct err late = { 0 };

	/* Close the old recorder before opening the new one, to free its memory.  Merges and
	 * copies continue, because waiting for them would stop sampling. */
	(void)oprofiled_close_recorder(d, d->recorder, &late);
	d->recorder = NULL;
	shared_tables_forget(&d->tables);
	return oprofiled_begin(d, err);
}

int oprofiled_dump(struct oprofiled *d, struct err *err)
{
	int r = oprofiled_check_removed(d, err);

	return r || !d->recorder ? r : recorder_dump(d->recorder, err);
}

/* If the failure is a full disk, logs it once and returns true: unwritten samples stay pending
 * until there is space. Returns false for any other failure. */
static bool oprofiled_recording_wait_for_room(struct oprofiled *d, int failure,
					      const struct err *err)
{
	if (failure != -ENOSPC && failure != -EDQUOT)
		return false;
	if (!d->disk_is_full)
		log_say(LOG_WARNING, "%s; samples are held until there is space",
			err->text);
	d->disk_is_full = true;
	return true;
}

static int rotate(struct oprofiled *d, struct err *err)
{
	struct event_requests events = { 0 };
	struct recorder *old = d->recorder;
	struct recorder *next = NULL;
	struct err late = { 0 };
	int r;

	/* Samples that wait for room would be lost if the recorder closed now.  So detect a full
	 * disk before closing the recorder, which could not retry. */
	if (!old || d->disk_is_full ||
	    oprofiled_recording_wait_for_room(d, recorder_dump(old, &late), &late))
		return 0;
	/* The new recorder looks up running processes while the old one still samples. */
	r = oprofiled_recording_open_recorder(d, &events, &next, err);
	if (r) {
		events_done(&events);
		return r;
	}
	(void)recorder_enable(old, false, NULL);
	r = recorder_enable(next, true, err);
	if (r) {
		(void)recorder_enable(old, true, NULL);
		recorder_discard(next);
		events_done(&events);
		return r;
	}
	d->recorder = next;
	(void)oprofiled_close_recorder(d, old, &late);
	oprofiled_recording_begin_samples(d);
	/* The closed recorder used the events of the daemon until now. */
	events_done(&d->events);
	d->events = events;
	set_next_rotation(d);
	oprofiled_govern_begin(d);
	return 0;
}

/* Starts another segment. After a failure, retries soon, because the reason for the rotation (a
 * clock step, a new CPU) persists. */
int oprofiled_rotate(struct oprofiled *d, struct err *err)
{
	int r = rotate(d, err);

	if (r)
		d->next_rotate_ns = clock_now_ns(CLOCK_MONOTONIC) + retry_after_ns;
	return r;
}

/* ---- poll rounds ---- */

int oprofiled_record_ms(const struct oprofiled *d)
{
	int ms = d->recorder ? recorder_timeout_ms(d->recorder) : SECOND_MS;
	int attend_ms = d->recorder ? recorder_attend_ms(d->recorder) : -1;

	return attend_ms >= 0 && attend_ms < ms ? attend_ms : ms;
}

void oprofiled_retry_later(struct oprofiled *d)
{
	d->retry_ns = clock_now_ns(CLOCK_MONOTONIC) + retry_after_ns;
}

static void take_failure(struct oprofiled *d, int failure, const struct err *err)
{
	struct err late = { 0 };
	uint64_t lost;

	if (oprofiled_recording_wait_for_room(d, failure, err))
		return;
	lost = d->sums.lost;
	log_say(LOG_WARNING, "%s; recording restarts", err->text);
	(void)oprofiled_close_recorder(d, d->recorder, &late);
	d->recorder = NULL;
	if (d->sums.lost > lost)
		log_say(LOG_WARNING, "%llu samples were lost",
			(unsigned long long)(d->sums.lost - lost));
	/* The memory of the recording is free now, so restart at once, unless that was tried in
	 * vain a moment ago. */
	d->retry_ns = d->failed_ns ? d->failed_ns + retry_after_ns : 1;
	d->failed_ns = clock_now_ns(CLOCK_MONOTONIC);
}

/* Logs why the recording failed. It is retried every few seconds, so the same message is not
 * logged again for a while. */
static void log_failure(struct oprofiled *d, uint64_t now, const struct err *err)
{
	if (now < d->next_report_ns && !strcmp(err->text, d->last_error.text))
		return;
	d->last_error = *err;
	d->next_report_ns = now + report_again_ns;
	log_say(LOG_WARNING, "%s", err->text);
}

static void try_again(struct oprofiled *d, uint64_t now)
{
	struct err err = { 0 };

	if (!d->retry_ns || now < d->retry_ns)
		return;
	if (!oprofiled_begin(d, &err))
		return;
	log_failure(d, now, &err);
	d->retry_ns = now + retry_after_ns;
}

static int one_round(struct oprofiled *d, struct err *err)
{
	uint64_t nr_writes = d->recorder->nr_writes;
	int r = recorder_round(d->recorder, err);

	if (r || !d->disk_is_full || d->recorder->nr_writes == nr_writes)
		return r;
	log_say(LOG_NOTE, "space is available again");
	d->disk_is_full = false;
	/* Rotations were deferred meanwhile, for example after a clock step. */
	d->next_rotate_ns = 0;
	return 0;
}

/* Waits up to `ms` for the rings, and does one round of the recording if one is due. Ignores
 * errors, because the next round of the main loop handles them. */
void oprofiled_wait(struct oprofiled *d, int ms)
{
	struct pollfd ring = { .fd = d->recorder ? recorder_poll_fd(d->recorder) : -1,
			       .events = POLLIN };
	struct err err = { 0 };

	(void)poll(&ring, 1, ms);
	if (d->recorder && recorder_is_due(d->recorder, ring.revents))
		(void)one_round(d, &err);
	oprofiled_report_alive(d);
}

/* Starts another segment if the two clocks of the segment have moved relative to each other. A
 * segment stores only one pair of their values, from which the time of day of its samples is
 * computed, so later samples would get wrong times. */
static void watch_clock(struct oprofiled *d, uint64_t now)
{
	/* Read both clocks again: a round of the loop may have lasted a second since `now`. */
	uint64_t since_boot_ns = clock_initial_ns(CLOCK_MONOTONIC);
	int64_t gap = (int64_t)(clock_now_ns(CLOCK_REALTIME) - since_boot_ns);
	int64_t step = gap - d->clock_gap_ns;

	if (step < clock_slack_ns && step > -clock_slack_ns)
		return;
	log_say(LOG_NOTE,
		"the clock was set, or the machine was suspended (%+.0f s): starting a new segment",
		(double)step / (double)clock_slack_ns);
	d->clock_gap_ns = gap;
	d->next_rotate_ns = now;
}

void oprofiled_record(struct oprofiled *d, bool ring, bool begun)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct err err = { 0 };
	int r = 0;

	oprofiled_upkeep(d);
	if (!d->recorder) {
		try_again(d, now);
		return;
	}
	if (begun || recorder_attend_ms(d->recorder) == 0)
		r = recorder_attend(d->recorder, &err);
	if (!r && recorder_is_due(d->recorder, ring))
		r = one_round(d, &err);
	watch_clock(d, now);
	if (r) {
		take_failure(d, r, &err);
	} else if (now >= d->next_rotate_ns) {
		set_next_rotation(d);
		if (oprofiled_rotate(d, &err))
			log_failure(d, now, &err);
	}
}

void oprofiled_recording_done(struct oprofiled *d)
{
	struct err err = { 0 };

	(void)oprofiled_stop(d, &err);
	if (d->dir_is_open)
		session_dir_close(&d->dir);
	d->dir_is_open = false;
	events_done(&d->events);
	sample_filter_done(&d->filter);
	cpu_list_done(&d->cpus);
	vec_done(&d->seen_cpus);
	vec_done(&d->sums.cpu_samples);
}
