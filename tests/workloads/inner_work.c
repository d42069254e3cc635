/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inner_first, inner_second, inner_bare [MS] - static programs for containers, which differ
 * only in the function that uses their time; the third has no build-id. */
#include "work.h"

WORK_FUNCTION(INNER_FUNCTION)

int main(int argc, char **argv)
{
	uint64_t end_ns = work_thread_ns() +
			  work_argument(argc, argv, 1, 200) * UINT64_C(1000000);
	uint64_t rounds = 20000;

	while (work_thread_ns() < end_ns)
		INNER_FUNCTION(rounds);
	return 0;
}
