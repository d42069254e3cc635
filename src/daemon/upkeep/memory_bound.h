/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_bound.h - decides when a recording uses so much memory that it must be restarted.
 * Layer: daemon.  A recording keeps everything distinct in its samples, and a new one starts
 * empty. If memory is short for another reason, a restart does not help.  So restarts happen at
 * most once a minute, unless the new recording itself grows. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct memory_bound {
	uint64_t max_bytes;    /* 0: no limit */
	uint64_t restarted_ns; /* 0: never */
	uint64_t restarted_bytes;
};

/* Returns whether `bytes` at `now_ns` are too many. In the minute after a restart, only more than
 * half of the bound above the bound (or above the memory used after the restart, if that is more)
 * is too much. */
bool memory_bound_exceeded(const struct memory_bound *b, uint64_t now_ns,
			   uint64_t bytes);
/* Call when another recording has started; `bytes` is the memory in use. */
void memory_bound_restarted(struct memory_bound *b, uint64_t now_ns, uint64_t bytes);
