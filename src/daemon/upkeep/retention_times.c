#include "daemon/upkeep/retention_times.h"

const struct retention_times retention_times = {
	.tiers_ns = { 600 * 1000000000ULL, 3600 * 1000000000ULL,
		      86400 * 1000000000ULL },
	.grace_ns = 60 * 1000000000ULL,
	.reading_ns = 3600 * 1000000000ULL,
};
