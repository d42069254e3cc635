/* SPDX-License-Identifier: GPL-2.0-or-later */
/* govern.c - limits the daemon's CPU time and memory. */
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/files/io.h"
#include "base/log.h"
#include "base/parse.h"
#include "capture/events/sample_cost.h"
#include "capture/source/perf_source.h"
#include "daemon/engine/engine.h"
#include "daemon/server/control_server.h"
#include "daemon/server/service.h"
#include "record/helper/table_budget.h"
#include "record/helper/table_helper.h"
#include "record/priv.h"
#include "record/recorder.h"

/* The measurement also touches this much memory, because a sampling interrupt also evicts other
 * programs' data from the processor's private caches. */
static const struct sample_cost_plan sample_plan = { .memory_bytes = 512 << 10,
						     .round_ns = 1000000,
						     .nr_rounds = 8 };
static const uint64_t gauge_after_ns = 3 * NS_PER_S;
static const uint64_t look_ns = NS_PER_S;
/* Reading /proc costs more than the other checks. */
static const uint64_t machine_ns = 3 * NS_PER_S;
static const uint64_t statistics_ns = 600 * NS_PER_S;

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

/* Returns the CPU time of this process with all its threads, of its children that have ended, and
 * of the table helper. */
uint64_t oprofiled_cpu_ns(const struct oprofiled *d)
{
	struct rusage own = { 0 };
	struct rusage children = { 0 };

	(void)getrusage(RUSAGE_SELF, &own);
	(void)getrusage(RUSAGE_CHILDREN, &children);
	return time_ns(&own.ru_utime) + time_ns(&own.ru_stime) +
	       time_ns(&children.ru_utime) + time_ns(&children.ru_stime) +
	       table_helper_cpu_ns(d->tables.helper);
}

uint64_t oprofiled_resident_bytes(void)
{
	struct buf text = { 0 };
	uint64_t pages = 0;
	char *word;

	if (!io_read_file("/proc/self/statm", &text, 4096)) {
		buf_put_u8(&text, 0);
		word = text.failed ? NULL : strchr((char *)text.data, ' ');
		if (word) {
			word[1 + strcspn(word + 1, " ")] = 0;
			(void)parse_u64(word + 1, &pages);
		}
	}
	buf_done(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Call this in the thread that reads the samples. */
static struct governor_use use_of(const struct oprofiled *d)
{
	const struct recorder *recorder = d->recorder;
	uint64_t side_band_ns =
		d->sums.side_band_ns + (recorder ? recorder->side_band_ns : 0);
	struct governor_use use = {
		.cpu_ns = oprofiled_cpu_ns(d),
		.sampling_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - side_band_ns,
		.samples_ns = clock_initial_ns(CLOCK_MONOTONIC) /* as frontier_ns */
	};

	if (!recorder)
		return use;
	use.samples = recorder->nr_taken + recorder->lost_in_records;
	if (recorder->frontier_ns)
		use.samples_ns = recorder->frontier_ns;
	return use;
}

static void *oprofiled_govern_measure(void *arg)
{
	struct oprofiled_gauge *g = arg;
	const struct sample_cost_kind kind = { .attr = &g->attr, .keeps = 1 };

	g->failed = sample_cost_measure(&kind, 1, &sample_plan, &g->ns);
	g->is_done = true;
	return NULL;
}

static bool writes_alike(const struct perf_event_attr *a,
			 const struct perf_event_attr *b)
{
	return a->sample_type == b->sample_type &&
	       a->sample_stack_user == b->sample_stack_user &&
	       a->exclude_callchain_user == b->exclude_callchain_user;
}

/* Starts a thread that measures the kernel's cost per sample with timer samples; other events are
 * assumed to cost the same. Rings are read meanwhile. The measurement runs in the governor's first
 * window, whose cost is not limited, but only some seconds after its begin, because startup must
 * be fast. */
static void begin_gauge(struct oprofiled *d, uint64_t now)
{
	struct oprofiled_gauge *g = &d->gauge;
	const struct perf_event_attr *attr;

	if (!d->recorder || g->runs || d->governor.max_share <= 0 ||
	    !d->governor.was_new || now < d->governor.begin_ns + gauge_after_ns)
		return;
	attr = perf_source_attr(d->recorder->source, 0);
	if (g->is_known && writes_alike(attr, &g->attr))
		return;
	g->attr = *attr;
	g->is_known = true;
	g->is_done = false;
	g->runs = !pthread_create(&g->thread, NULL, oprofiled_govern_measure, g);
}

static void end_gauge(struct oprofiled *d)
{
	struct oprofiled_gauge *g = &d->gauge;

	pthread_join(g->thread, NULL);
	g->runs = false;
	if (g->failed)
		log_say(LOG_NOTE, "the kernel's cost per sample is unknown: %s",
			strerror(-g->failed));
	d->governor.sample_ns = g->failed ? 0 : g->ns;
}

void oprofiled_govern_begin(struct oprofiled *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct governor_use use = use_of(d);

	governor_begin(&d->governor, now, &use);
}

void oprofiled_govern_end(struct oprofiled *d)
{
	if (d->gauge.runs)
		end_gauge(d);
}

static unsigned int nr_cpus(const struct oprofiled *d)
{
	long online = d->cpus.nr ? (long)d->cpus.nr : sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (unsigned int)online : 1;
}

/* Logs, once per recording, that the cost is too high and no event has a rate to lower. */
static void report_excess(struct oprofiled *d)
{
	const struct governor *g = &d->governor;

	if (g->wanted_hz || g->max_share <= 0 || d->excess_is_reported ||
	    governor_overhead(g) <= g->max_share)
		return;
	d->excess_is_reported = true;
	log_say(LOG_WARNING,
		"sampling cost %.2f %% of the CPUs' time, more than the %.2g %% of --max-overhead: "
		"increase the events' counts to reduce the cost",
		100 * governor_overhead(g), 100 * g->max_share);
}

static void govern(struct oprofiled *d, uint64_t now)
{
	struct governor_use use;
	struct err err = { 0 };

	if (d->gauge.runs && d->gauge.is_done)
		end_gauge(d);
	begin_gauge(d, now);
	if (!governor_is_due(&d->governor, now))
		return;
	use = use_of(d);
	d->governor.nr_cpus = nr_cpus(d);
	if (!governor_look(&d->governor, now, &use)) {
		report_excess(d);
		return;
	}
	/* The next recorder uses the new rate. */
	if (!d->recorder)
		return;
	log_say(LOG_NOTE,
		"sampling cost %.2f %% of the CPUs' time: the rate is %llu Hz now",
		100 * governor_overhead(&d->governor),
		(unsigned long long)d->governor.rate_hz);
	/* Start another recording, because each one stores the rate at which it was made. */
	if (oprofiled_rotate(d, &err))
		log_say(LOG_WARNING, "%s", err.text);
}

/* Restarts a recording that uses too much memory: the number of distinct stacks and names only
 * grows while it runs. */
static void bound_memory(struct oprofiled *d, uint64_t now)
{
	bool was_short = d->memory_is_short;
	uint64_t bytes;
	struct err err = { 0 };

	if (!d->recorder || !d->memory.max_bytes || now < d->next_memory_ns)
		return;
	bytes = oprofiled_resident_bytes();
	d->memory_is_short = memory_bound_exceeded(&d->memory, now, bytes);
	if (!d->memory_is_short)
		return;
	/* Perhaps a merge uses the memory: abort it first and check again. */
	if (!was_short && oprofiled_upkeep_shrink(d)) {
		d->next_memory_ns = now + machine_ns;
		return;
	}
	log_say(LOG_NOTE, "memory use reached %llu MB: recording restarts",
		(unsigned long long)(bytes >> 20));
	/* This frees the memory of the old recorder before it opens the new one. */
	if (oprofiled_restart(d, &err)) {
		log_say(LOG_WARNING, "%s", err.text);
		oprofiled_retry_later(d);
	}
	memory_bound_restarted(&d->memory, clock_now_ns(CLOCK_MONOTONIC),
			       oprofiled_resident_bytes());
}

static void report_statistics(struct oprofiled *d, uint64_t now)
{
	uint64_t samples = d->sums.samples;
	uint64_t lost = d->sums.lost;

	if (now < d->next_statistics_ns)
		return;
	if (d->next_statistics_ns) {
		if (d->recorder) {
			samples += recorder_totals(d->recorder)->samples;
			lost += recorder_totals(d->recorder)->lost;
		}
		log_say(LOG_NOTE,
			"-- OProfile Statistics -- samples: "
			"%llu, lost: %llu, CPU: %.2f %% of a CPU, memory: "
			"%llu kB",
			(unsigned long long)samples, (unsigned long long)lost,
			100 * d->governor.share,
			(unsigned long long)oprofiled_resident_bytes() >> 10);
	}
	d->next_statistics_ns = now + statistics_ns;
}

/* Creates the control socket again if it was removed, because without it only a signal could stop
 * the daemon. Logs this, and a failure once. */
static void keep_socket(struct oprofiled *d)
{
	struct err err = { 0 };
	int r = control_server_renew(d->server, &err);

	if (r > 0)
		log_say(LOG_NOTE,
			"the control socket had been removed: created it again");
	else if (r < 0 && !d->socket_is_reported)
		log_say(LOG_WARNING,
			"the control socket was removed and cannot be created again: %s",
			err.text);
	d->socket_is_reported = r < 0;
}

void oprofiled_report_alive(struct oprofiled *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

	if (!d->watchdog_ns || now < d->next_watchdog_ns)
		return;
	d->next_watchdog_ns = now + d->watchdog_ns;
	service_notify("WATCHDOG=1");
}

void oprofiled_govern(struct oprofiled *d)
{
	uint64_t now = clock_now_ns(CLOCK_MONOTONIC);
	struct err err = { 0 };

	if (now < d->next_govern_ns)
		return;
	d->next_govern_ns = now + look_ns;
	govern(d, now);
	(void)oprofiled_check_removed(d, &err);
	keep_socket(d);
	bound_memory(d, now);
	oprofiled_watch_cpus(d, now);
	report_statistics(d, now);
	oprofiled_report_alive(d);
}
