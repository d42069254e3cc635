/* memory_bound.h - when a recording has used so much memory that another one is to begin.
 * Layer: daemon.  What is distinct in samples grows without end, and another recording begins with
 * nothing.  Where memory is short for another reason, that does not help: then it is done once a
 * minute at most, unless the new recording itself grows. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct memory_bound {
	uint64_t max_bytes;    /* 0: no bound */
	uint64_t restarted_ns; /* 0: never */
	uint64_t restarted_bytes;
};

/* Whether `bytes`, at `now_ns`, are too many: more than the bound; in the minute after a restart half
 * of it more than that, and more than what was used then. */
bool memory_bound_exceeded(const struct memory_bound *b, uint64_t now_ns,
			   uint64_t bytes);
/* Another recording has begun, and uses so much. */
void memory_bound_restarted(struct memory_bound *b, uint64_t now_ns, uint64_t bytes);
