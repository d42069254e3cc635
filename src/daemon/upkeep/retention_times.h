/* SPDX-License-Identifier: GPL-2.0-or-later */
/* retention_times.h - after which times segments become one.  Apart from what goes by them, so that
 * a test can be linked with others (tests/daemon).
 * Layer: daemon. */
#pragma once
#include <stdint.h>

enum {
	RETENTION_TIERS = 3
};

struct retention_times {
	uint64_t tiers_ns
		[RETENTION_TIERS]; /* ascending, each a multiple of that before */
	/* How long the parts stay behind a merge: readers that listed them before it have opened
	 * them by then. */
	uint64_t grace_ns;
	/* At most, where a reader holds the session (session/hold.h). */
	uint64_t reading_ns;
};

extern const struct retention_times retention_times;
