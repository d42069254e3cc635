/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slower [PERCENT [MS]] - ten functions; slower_b does PERCENT % more work, in addition to what the
 * others do. */
#include "work.h"

WORK_FUNCTION(slower_a)
WORK_FUNCTION(slower_b)
WORK_FUNCTION(slower_c)
WORK_FUNCTION(slower_d)
WORK_FUNCTION(slower_e)
WORK_FUNCTION(slower_f)
WORK_FUNCTION(slower_g)
WORK_FUNCTION(slower_h)

enum {
	TURNS = 40
};

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "slower_a", .run = slower_a, .weight = 2500 },
		{ .name = "slower_b", .run = slower_b, .weight = 20 },
		{ .name = "slower_c", .run = slower_c, .weight = 1500 },
		{ .name = "slower_d", .run = slower_d, .weight = 1200 },
		{ .name = "slower_e", .run = slower_e, .weight = 1000 },
		{ .name = "slower_f", .run = slower_f, .weight = 800 },
		{ .name = "slower_g", .run = slower_g, .weight = 600 },
		{ .name = "slower_h", .run = slower_h, .weight = 400 },
	};
	const unsigned int percent = work_argument(argc, argv, 1, 0);
	const unsigned int ms = work_argument(argc, argv, 2, 500);

	parts[1].weight *= 100 + percent;
	/* 8000 of the base's weights and 2000 of slower_b: more work takes more time. */
	work_run_parts(parts, 8, ms * (10000 + 20 * percent) / 10000, TURNS);
	work_print_shares("symbol", parts, 8);
	return 0;
}
