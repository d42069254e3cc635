/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit.h - checks whether the CPU can count a set of events simultaneously.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct event_catalog;
struct event_request;

enum events_fit {
	EVENTS_FIT,
	EVENTS_MULTIPLEXED,
	EVENTS_FIT_UNKNOWN /* no PMU, or no permission */
};

/* Returns true if the event needs a counter of the CPU. Software events do not. */
bool event_needs_counter(const struct event_request *e);
/* Assigns counters according to what is known about the CPU. Returns how many of the first
 * events can be counted together. ret_counter[] is the number of the counter
 * (event_counters.h), or -1 if the event needs none or gets none. Each core type has separate
 * counters. */
size_t events_fit_known(const struct event_request *events, size_t nr,
			const struct event_catalog *catalog, int *ret_counter);
/* Tests with the kernel whether the events fit: opens them as one group on each core type. If the
 * result is EVENTS_MULTIPLEXED, *ret_first is the first event that does not fit together with the
 * previous ones but can be counted alone. */
enum events_fit events_fit_here(const struct event_request *events, size_t nr,
				size_t *ret_first);
/* Explains why the kernel refused a group with `code` although each event can be counted alone.
 * Returns `code`. */
int events_fit_explain(int code, const struct event_request *e, struct err *err);
