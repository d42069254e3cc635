/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.h - one run of a counter: what is counted where, and what came of it.
 * Layer: counting. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/containers/vec.h"
#include "capture/events/counters.h"
#include "capture/system/cpus.h"
#include "capture/system/target.h"

struct err;

enum count_mode {
	COUNT_COMMAND,
	COUNT_SYSTEM,
	COUNT_CPUS,
	COUNT_PROCESSES,
	COUNT_THREADS
};

/* Values of all events at all places, [place * nr_events + event]. */
struct count_values {
	struct counter_value *at;
	uint64_t duration_ns;
};

struct count_run {
	enum count_mode mode;
	const char *subject; /* the command's name; of other modes what they are */
	char **command;      /* NULL: none */
	struct event_requests events;
	struct cpu_list cpus;
	VEC(pid_t) tasks; /* as given */
	VEC(pid_t) tids;  /* their threads */
	size_t nr_places;
	uint64_t interval_ns;  /* 0: none */
	uint64_t nr_intervals; /* 0: until the end */
	struct counters *counters;
	struct target target;
	int target_status; /* what a shell would report */
	bool not_run;      /* the command could not be started */
};

/* Called at the end of each interval with what was counted in it. */
typedef int (*count_fn)(void *ctx, const struct count_values *values);

/* Runs once: opens, counts, calls `interval` as asked, fills *ret_values with all of it.
 * 0, or a negative errno with a line. */
int count_run_once(struct count_run *run, count_fn interval, void *ctx,
		   struct count_values *ret_values, struct err *err);
size_t count_nr_values(const struct count_run *run);
/* All places of an event together. */
struct counter_value count_total(const struct count_run *run,
				 const struct count_values *values, size_t event);

/* A derived number. */
struct metric {
	const char *name;
	const char *unit;
	double value;
};
enum {
	METRICS_MAX = 16
};
/* Those that can be had of what was counted, most telling first. */
size_t count_metrics(const struct count_run *run, const struct count_values *values,
		     struct metric ret_metrics[METRICS_MAX]);
/* What to count for them, where nothing was asked for. */
const char *count_metrics_events(bool have_pmu, bool have_topdown);
