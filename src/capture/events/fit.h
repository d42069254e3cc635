/* fit.h - whether the CPU can count all of some events at once.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct err;
struct event_catalog;
struct event_request;

enum events_fit {
	EVENTS_FIT,
	EVENTS_TAKE_TURNS,
	EVENTS_FIT_UNKNOWN /* there is no PMU, or no right to it */
};

/* Whether a counter of the CPU counts it; what software counts needs none. */
bool event_needs_counter(const struct event_request *e);
/* A counter for each of the events by what is known of the CPU: how many of the first ones can be
 * counted together.  ret_counter[] is its number (event_counters.h), -1 where it needs none or has
 * none.  Kinds of cores have counters of their own. */
size_t events_fit_known(const struct event_request *events, size_t nr,
			const struct event_catalog *catalog, int *ret_counter);
/* Asks the kernel, by opening them as one group, on each kind of cores.  *ret_first is the first that has no room
 * beside those before it, which alone could be counted. */
enum events_fit events_fit_here(const struct event_request *events, size_t nr,
				size_t *ret_first);
/* What a group means that the kernel refuses with `code`, when each of it alone can be counted.
 * `code`. */
int events_fit_explain(int code, const struct event_request *e, struct err *err);
