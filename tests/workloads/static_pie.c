/* SPDX-License-Identifier: GPL-2.0-or-later */
/* static_pie [MS] - a program without a dynamic linker that relocates itself. */
#include "work.h"

WORK_FUNCTION(spie_a)
WORK_FUNCTION(spie_b)
WORK_FUNCTION(spie_c)

int main(int argc, char **argv)
{
	struct work_part parts[] = {
		{ .name = "*/static_pie,spie_a", .run = spie_a, .weight = 1 },
		{ .name = "*/static_pie,spie_b", .run = spie_b, .weight = 3 },
		{ .name = "*/static_pie,spie_c", .run = spie_c, .weight = 6 },
	};

	work_run_parts(parts, 3, work_argument(argc, argv, 1, 2000), 10);
	work_print_shares("image,symbol", parts, 3);
	return 0;
}
