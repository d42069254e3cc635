/* events_fit.h - whether the CPU can count all of some events at once.
 * Layer: capture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct cpu_type;
struct err;
struct event_request;

enum events_fit {
	EVENTS_FIT,
	EVENTS_TAKE_TURNS,
	EVENTS_FIT_UNKNOWN /* there is no PMU, or no right to it; or kinds of cores differ */
};

/* Whether a counter of the CPU counts it; what software counts needs none. */
bool event_needs_counter(const struct event_request *e);
/* The same, and it is not one that `cpu` has a counter for alone. */
bool event_needs_any_counter(const struct event_request *e, const struct cpu_type *cpu);
/* Asks the kernel, by opening them as one group.  *ret_first is the first that has no room
 * beside those before it, which alone could be counted. */
enum events_fit events_fit_here(const struct event_request *events, size_t nr,
				size_t *ret_first);
/* What a group means that the kernel refuses with `code`, when each of it alone can be counted.
 * `code`. */
int events_fit_explain(int code, const struct event_request *e, struct err *err);
