/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_bound.h - decides when a recording uses so much memory that it must be restarted.
 * Layer: daemon.  A recording keeps each distinct stack and name in memory until it ends, so a
 * restart frees memory. If the memory is used by something else, a restart does not help.  So
 * restarts happen at most once a minute, unless the new recording itself grows. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct memory_bound {
	uint64_t max_bytes;    /* 0: no limit */
	uint64_t restarted_ns; /* 0: never */
	uint64_t restarted_bytes;
};

/* Returns whether `bytes` of memory in use at `now_ns` require a restart: more than max_bytes. In
 * the minute after a restart, the limit is higher by max_bytes / 2, and counts from the memory
 * used after that restart if that was more than max_bytes. */
bool memory_bound_exceeded(const struct memory_bound *b, uint64_t now_ns,
			   uint64_t bytes);
/* Call when another recording has started; `bytes` is the memory in use. */
void memory_bound_restarted(struct memory_bound *b, uint64_t now_ns, uint64_t bytes);
