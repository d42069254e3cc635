/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/record/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/byte_text.h"
#include "capture/events/events.h"
#include "capture/events/fit.h"
#include "present/lines/screen.h"
#include "resolve/unwind/unwind.h"
#include "tools/cli/command.h"
#include "tools/cli/progress.h"

/* Warns that the kernel multiplexes the events on the counters. */
static void record_report_multiplexing(const struct event_request *events,
				       size_t nr_events)
{
	size_t first;

	if (events_fit_here(events, nr_events, &first) == EVENTS_MULTIPLEXED)
		screen_print_line(
			stderr,
			"%s: this CPU cannot count all these events at once (%s does not fit next to those before it): "
			"the kernel multiplexes them, and reports show for which share of the time each was counted; use fewer events to avoid this",
			command_name(), events[first].name);
}

void record_report_start(const struct event_request *events, size_t nr_events,
			 uint32_t session_flags, bool until_stopped)
{
	if (session_flags & SESSION_TIMER_FALLBACK && nr_events)
		fprintf(stderr,
			"%s: this machine has no PMU: "
			"sampling on the timer (event TIMER) at %llu Hz\n",
			command_name(), (unsigned long long)events[0].frequency_hz);
	record_report_multiplexing(events, nr_events);
	fprintf(stderr, "%s: Profiler started\n", command_name());
	if (until_stopped)
		fprintf(stderr,
			"%s: Press Ctl-c or 'kill -SIGINT %d' to stop profiling\n",
			command_name(), getpid());
}

static void warn_lost(const struct session_totals *t)
{
	fprintf(stderr,
		"* * * ATTENTION: The kernel lost %llu samples. "
		"* * *\n"
		"Lower the sampling rate (--frequency, or a higher count), or give the rings more pages (--ring-pages).\n",
		(unsigned long long)t->lost);
}

static void warn_dropped(const struct session_totals *t)
{
	fprintf(stderr,
		"%s: %llu samples were dropped: memory was short, or the disk was full\n",
		command_name(), (unsigned long long)t->dropped);
}

static void warn_throttled(const struct event_request *events, size_t nr_events)
{
	fprintf(stderr,
		"* * * * WARNING: Profiling rate was throttled back by the kernel * * * *\n"
		"The number of samples actually recorded is less than expected, but is probably still statistically valid. "
		"Decreasing the sampling rate is the best option if you want to avoid throttling.\n"
		"Events:");
	for (size_t i = 0; i < nr_events; i++) {
		fputc(' ', stderr);
		screen_write_name(stderr, events[i].name);
	}
	fputc('\n', stderr);
}

/* Prints how many unwound stacks are complete, and the reasons for the others, the most frequent
 * first. */
static void report_stacks(const struct session_totals *t)
{
	uint64_t left[UNWIND_ENDS], all = 0;
	unsigned int worst;

	memcpy(left, t->stack_ends, sizeof(left));
	for (unsigned int i = 0; i < UNWIND_ENDS; i++)
		all += left[i];
	if (!all)
		return;
	fprintf(stderr, "%s: %llu of %llu user stacks are complete", command_name(),
		(unsigned long long)left[UNWIND_END_ROOT], (unsigned long long)all);
	left[UNWIND_END_ROOT] = 0;
	for (;;) {
		worst = 0;
		for (unsigned int i = 0; i < UNWIND_ENDS; i++)
			if (left[i] > left[worst])
				worst = i;
		if (!left[worst])
			break;
		fprintf(stderr, "; %llu: %s", (unsigned long long)left[worst],
			unwind_end_text(worst));
		left[worst] = 0;
	}
	fputc('\n', stderr);
}

/* Warns about events that were counted only part of the time. */
static void report_shares(const struct session_totals *t,
			  const struct event_request *events, size_t nr_events)
{
	for (size_t i = 0; i < nr_events && i < SESSION_EVENT_SHARES; i++) {
		double share = (t->event_shares[i] - 1) * 100.0 / SESSION_SHARE_WHOLE;

		if (t->event_shares[i] && share < 99)
			screen_print_line(
				stderr,
				"%s: %s was counted for %.1f %% of the time: there are more events than counters",
				command_name(), events[i].name, share);
	}
}

/* Returns the reason why there are no samples. The sentence about the target is OProfile's,
 * because scripts search for it. */
static const char *no_samples_reason(const struct record_summary *summary)
{
	if (summary->delayed)
		return "The recording ended before the time of --delay was over.";
	switch (summary->target) {
	case RECORD_PROCESSES:
		return "The processes used too little CPU time for a sample while they were recorded, or the events did not occur in them.";
	case RECORD_SYSTEM:
		return "The recording was too short for a sample, or the events did not occur.";
	case RECORD_COMMAND:
	default:
		return "The target program/command ended before profiling was started, or used too little CPU time for a sample.";
	}
}

void record_report_end(const struct record_summary *summary,
		       const struct event_request *events, size_t nr_events)
{
	const struct session_totals *t = &summary->totals;
	char size[32];

	if (!t->samples)
		fprintf(stderr, "!!!! No samples collected !!!\n%s\n",
			no_samples_reason(summary));
	if (t->lost)
		warn_lost(t);
	if (t->dropped)
		warn_dropped(t);
	if (t->throttled)
		warn_throttled(events, nr_events);
	byte_text_put(size, sizeof(size), summary->file_bytes);
	screen_print_line(
		stderr,
		"%s: Profiling done. %llu samples, %llu lost, %llu throttled; "
		"%s%s%s; the recorder used %.2f s of CPU",
		command_name(), (unsigned long long)t->samples,
		(unsigned long long)t->lost + t->dropped,
		(unsigned long long)t->throttled, size, summary->dir ? " in " : "",
		summary->dir ? summary->dir : "", (double)t->recorder_cpu_ns / 1e9);
	report_stacks(t);
	report_shares(t, events, nr_events);
	if (t->lost_records)
		fprintf(stderr,
			"%s: %llu records of mappings and processes were lost: "
			"some samples can lack names\n",
			command_name(), (unsigned long long)t->lost_records);
}
