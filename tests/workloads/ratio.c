/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ratio [MS] - work_b does 99 times work_a's work. */
#include "work.h"

WORK_FUNCTION(work_a)
WORK_FUNCTION(work_b)

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "work_a", .run = work_a, .weight = 1 },
		{ .name = "work_b", .run = work_b, .weight = 99 },
	};

	work_run_parts(parts, 2, work_argument(argc, argv, 1, 3000), 10);
	work_print_shares("symbol", parts, 2);
	return 0;
}
