/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counters.h - counts events without sampling: perf_event_open() and read().
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
	const pid_t *tids; /* count in these threads; NULL: on the CPUs below */
	const int *cpus;   /* either array has nr_scopes entries */
	size_t nr_scopes;
	bool inherit; /* also count in children and new threads */
	bool on_exec; /* start counting when the (only) thread calls exec */
};

struct counter_value {
	uint64_t count; /* raw count; multiply by enabled / running to extrapolate */
	uint64_t enabled_ns;
	uint64_t running_ns;
	bool there; /* false if the thread has ended or its CPU lacks the PMU */
};

/* Opens all counters, stopped. Returns 0, -EACCES / -EPERM without permission, -ENOENT for an
 * event that this machine lacks, -ESRCH if no thread is left, or another negative errno, with a
 * message in *err. */
int counters_open(const struct counters_config *config, struct counters **ret_counters,
		  struct err *err);
void counters_close(struct counters *c); /* accepts NULL */
/* Starts or stops all counters. Returns 0 or a negative errno. */
int counters_enable(struct counters *c, bool on);
/* Reads an event of a scope, which is a thread or CPU, by their indexes. Returns 0 or a negative
 * errno. */
int counters_read(const struct counters *c, size_t event, size_t scope,
		  struct counter_value *ret_value);
/* Returns the extrapolated count: count * enabled / running, rounded; 0 if the event never had a
 * counter. */
uint64_t counter_scaled(const struct counter_value *v);
/* Adds the values of `from` to `to`. */
void counter_add(struct counter_value *to, const struct counter_value *from);
