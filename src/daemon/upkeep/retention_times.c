/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/upkeep/retention_times.h"

#include "base/clock.h"

const struct retention_times retention_times = {
	.tiers_ns = { 600 * NS_PER_S, 3600 * NS_PER_S, 86400 * NS_PER_S },
	.grace_ns = 60 * NS_PER_S,
	.reading_ns = 3600 * NS_PER_S,
};
