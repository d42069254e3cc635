/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_bound.h - when a recording has used so much memory that another one is to begin.
 * Layer: daemon.  A recording keeps everything distinct in its samples, and a new one starts empty.
 * If memory is short for another reason, a restart does not help: then it happens once a minute at
 * most, unless the new recording itself grows. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct memory_bound {
	uint64_t max_bytes;    /* 0: no bound */
	uint64_t restarted_ns; /* 0: never */
	uint64_t restarted_bytes;
};

/* Returns whether `bytes` at `now_ns` are too many.  In the minute after a restart the limit is half
 * of the bound above the bound, or above what was used after the restart if that was more. */
bool memory_bound_exceeded(const struct memory_bound *b, uint64_t now_ns,
			   uint64_t bytes);
/* Another recording has begun, and uses so much. */
void memory_bound_restarted(struct memory_bound *b, uint64_t now_ns, uint64_t bytes);
