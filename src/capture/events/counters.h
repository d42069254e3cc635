/* counters.h - events that are counted, not sampled: perf_event_open() and read().
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/events/events.h"

struct counters;
struct err;

struct counters_config {
	const struct event_request *events;
	size_t nr_events;
	const pid_t *tids; /* places are threads; NULL: they are CPUs */
	const int *cpus;   /* of which there are nr_places */
	size_t nr_places;
	bool inherit; /* what the threads start is counted, too */
	bool on_exec; /* begins with the exec of the one thread */
};

struct counter_value {
	uint64_t
		count; /* as counted; scaled by enabled / running it is all of the time */
	uint64_t enabled_ns;
	uint64_t running_ns;
	bool there; /* the place has this event: its thread lived, its CPU has such a PMU */
};

/* Opens all of them, stopped.  -EACCES / -EPERM where rights are missing, -ENOENT for an event
 * that this machine does not have, -ESRCH when no thread is left, and others; each with a line. */
int counters_open(const struct counters_config *config, struct counters **ret_counters,
		  struct err *err);
void counters_close(struct counters *c); /* NULL is fine */
/* 0 or a negative errno. */
int counters_enable(struct counters *c, bool on);
/* Of one event at one place.  0 or a negative errno. */
int counters_read(const struct counters *c, size_t event, size_t place,
		  struct counter_value *ret_value);
/* count * enabled / running, rounded; 0 if it never ran. */
uint64_t counter_scaled(const struct counter_value *v);
/* Adds what `from` counted. */
void counter_add(struct counter_value *to, const struct counter_value *from);
