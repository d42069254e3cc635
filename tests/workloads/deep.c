/* SPDX-License-Identifier: GPL-2.0-or-later */
/* deep [DEPTH] [MS] - a recursion of DEPTH calls without frame pointers; the innermost
 * function, `bottom`, uses nearly all of the time. Prints "depth N". */
#include <stdio.h>

#include "work.h"

WORK_FUNCTION(bottom)

static unsigned int bottom_ms;
static volatile uint64_t sink;

/* The frames are of different sizes: one in four has an array. */
#ifdef __clang__
#define CALLED __attribute__((noinline))
#else
#define CALLED __attribute__((noinline, noclone, noipa))
#endif
CALLED static uint64_t descend(uint64_t left);

CALLED static uint64_t descend_wide(uint64_t left)
{
	volatile uint64_t room[9];

	room[left % 9] = left;
	return descend(left) + room[left % 9];
}

CALLED static uint64_t descend(uint64_t left)
{
	if (!left) {
		struct work_part part = { .name = "bottom",
					  .run = bottom,
					  .weight = 1 };

		work_run_parts(&part, 1, bottom_ms, 10);
		return sink;
	}
	/* Two kinds of calls keep the compiler from making a loop of the recursion, or a jump of
	 * the last call. */
	if (left % 4)
		sink += descend(left - 1);
	else
		sink += descend_wide(left - 1);
	return sink + 1;
}

int main(int argc, char **argv)
{
	uint64_t depth = work_argument(argc, argv, 1, 300);

	bottom_ms = work_argument(argc, argv, 2, 500);
	sink = descend(depth);
	printf("depth %u\n", (unsigned int)depth);
	return 0;
}
