/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/memory_bound.h"

#include "base/clock.h"

/* Minimum time between two restarts for memory. */
static const uint64_t patience_ns = 60 * NS_PER_S;

bool memory_bound_exceeded(const struct memory_bound *b, uint64_t now_ns,
			   uint64_t bytes)
{
	uint64_t base =
		b->restarted_bytes > b->max_bytes ? b->restarted_bytes : b->max_bytes;

	if (!b->max_bytes || bytes <= b->max_bytes)
		return false;
	return !b->restarted_ns || now_ns - b->restarted_ns >= patience_ns ||
	       bytes > base + b->max_bytes / 2;
}

void memory_bound_restarted(struct memory_bound *b, uint64_t now_ns, uint64_t bytes)
{
	b->restarted_ns = now_ns;
	b->restarted_bytes = bytes;
}
