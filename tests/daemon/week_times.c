/* SPDX-License-Identifier: GPL-2.0-or-later */
/* week_times.c - linked into an oprofile in place of the daemon's usual times: a week has
 * twelve minutes, a day 103 seconds, an hour 4.3 seconds. */
#include "daemon/upkeep/retention_times.h"

const struct retention_times retention_times = {
	.tiers_ns = { 714285714, 6 * 714285714ULL, 6 * 24 * 714285714ULL },
	/* The next merge waits until the parts of the previous one are removed. */
	.grace_ns = 100000000,
	.reading_ns = 4285714285,
};
