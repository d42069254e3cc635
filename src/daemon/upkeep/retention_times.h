/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retention_times.h - the times after which segments are merged.  In a separate file, so that a
 * test can be linked with other values (tests/daemon).
 * Layer: daemon. */
#pragma once
#include <stdint.h>

enum {
	RETENTION_TIERS = 3
};

struct retention_times {
	uint64_t tiers_ns
		[RETENTION_TIERS]; /* ascending, each a multiple of the previous one */
	/* How long parts are kept after their merge, so that readers that listed the directory
	 * before can open them. */
	uint64_t grace_ns;
	/* How long parts are kept at most while a reader holds the session (session/hold.h). */
	uint64_t reading_ns;
};

extern const struct retention_times retention_times;
