/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.h - times in nanoseconds.
 * Layer: base. */
#pragma once
#include <stdint.h>
#include <time.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define MS_PER_S INT64_C(1000)

/* Converts the time of a clock or a file's st_mtim. Times before 1970 wrap around. */
static inline uint64_t clock_ns(struct timespec t)
{
	return (uint64_t)(t.tv_sec * NS_PER_S + t.tv_nsec);
}

/* Returns the current time of a clock such as CLOCK_MONOTONIC. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	(void)clock_gettime(clock, &t);
	return clock_ns(t);
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/* ---- time namespaces (time_namespaces(7)) ---- */

/* In a time namespace, CLOCK_MONOTONIC and CLOCK_BOOTTIME are later than in the initial one, in
 * which the kernel measures the times of its records. Negative offsets wrap around. */
struct clock_offsets {
	uint64_t monotonic_ns, boottime_ns;
};

/* Parses /proc/PID/timens_offsets. Offsets that are missing or malformed are 0. */
void clock_parse_offsets(const char *text, struct clock_offsets *ret_offsets);
/* Returns the current time of a clock, as in the initial time namespace. */
uint64_t clock_initial_ns(clockid_t clock);
/* Converts a time of this process's CLOCK_BOOTTIME to that of the initial time namespace. */
uint64_t clock_initial_boottime_ns(uint64_t boottime_ns);
