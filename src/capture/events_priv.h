/* events_priv.h - where event names are looked up; used by events*.c and their tests.
 * Layer: capture. */
#pragma once
#include <stdint.h>

#include "base/nearest.h"

struct err;
struct event_request;

/* An event that the kernel knows by number. */
struct event_row {
	const char *name;
	const char *alias; /* a second spelling, or NULL */
	uint32_t type;     /* PERF_TYPE_* */
	uint64_t config;
	uint32_t min_count; /* smallest period that makes sense; 0: any */
	const char *about;
};

/* The row of that name or alias (for hardware caches in any case of letters), or NULL. */
const struct event_row *event_row_find(const char *name);
/* The i-th row, NULL behind the last. */
const struct event_row *event_row_at(size_t i);

#define EVENTS_SYSFS "/sys/bus/event_source/devices"

/* Fills attr.type and configs and `about` from "PMU/term[=value],.../", with the PMU's
 * description below the directory `root` (EVENTS_SYSFS).
 * 0, -ENOENT (no such PMU, event or term), -EINVAL. */
int events_sysfs_pmu(const char *root, const char *name, struct event_request *event,
		     struct err *err);
/* The same for a bare name that a core PMU describes.  0, -ENOENT (without a text). */
int events_sysfs_bare(const char *root, const char *name, struct event_request *event);
enum {
	EVENTS_SYSFS_WORD_MAX = 64
};
/* Offers the names of the core PMU's events; the best of them is kept in `best`. */
void events_sysfs_nearest(const char *root, struct nearest *near,
			  char best[EVENTS_SYSFS_WORD_MAX]);
