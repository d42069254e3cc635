/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.h - runs event counters once, and holds the configuration and results.
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

/* Values of all events of all scopes (CPUs or tasks): [scope * nr_events + event]. */
struct count_values {
	struct counter_value *at;
	uint64_t duration_ns;
};

struct count_run {
	enum count_mode mode;
	const char *subject; /* the command's name; in other modes a description */
	char **command;      /* NULL: none */
	struct event_requests events;
	struct cpu_list cpus;
	VEC(pid_t) tasks; /* the processes or threads to count, as given by the user */
	VEC(pid_t) tids;  /* the threads of `tasks` */
	size_t nr_scopes;
	uint64_t interval_ns; /* 0: none */
	/* number of intervals after which counting ends; 0: no limit */
	uint64_t nr_intervals;
	struct counters *counters;
	struct target target;
	int target_status; /* exit status as a shell would report it */
	bool not_run;      /* the command could not be started */
};

/* Called at the end of each interval with the counts of this interval. Returns 0, or a negative
 * errno to stop counting. */
typedef int (*count_fn)(void *ctx, const struct count_values *values);

/* Opens the counters, counts, calls `interval` at each interval, and fills *ret_values with the
 * totals.  Returns 0, or a negative errno with a message. */
int count_run_once(struct count_run *run, count_fn interval, void *ctx,
		   struct count_values *ret_values, struct err *err);
size_t count_nr_values(const struct count_run *run);
/* Returns the sum of an event over all scopes. */
struct counter_value count_total(const struct count_run *run,
				 const struct count_values *values, size_t event);

/* A number that is derived from counts, such as instructions per cycle. */
struct metric {
	const char *name;
	const char *unit;
	double value;
};
enum {
	METRICS_MAX = 16
};
/* Computes the metrics that the counted events allow, most informative first.  Returns their
 * number. */
size_t count_metrics(const struct count_run *run, const struct count_values *values,
		     struct metric ret_metrics[METRICS_MAX]);
/* Returns the events to count for metrics if the user named none. */
const char *count_metrics_events(bool have_pmu, bool have_topdown);
