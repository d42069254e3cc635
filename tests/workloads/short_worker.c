/* SPDX-License-Identifier: GPL-2.0-or-later */
/* short_worker FUNCTION ROUNDS FD SLOT - one of the short-lived processes: works, writes its
 * CPU time to its slot of the file that its parent has open as FD, and exits. */
#include <unistd.h>

#include "work.h"

WORK_FUNCTION(short_work_0)
WORK_FUNCTION(short_work_1)
WORK_FUNCTION(short_work_2)

static const work_fn functions[] = { short_work_0, short_work_1, short_work_2 };

int main(int argc, char **argv)
{
	unsigned int function = work_argument(argc, argv, 1, 0);
	unsigned int rounds = work_argument(argc, argv, 2, 0);
	unsigned int fd = work_argument(argc, argv, 3, 1);
	unsigned int slot = work_argument(argc, argv, 4, 0);
	uint64_t cpu_ns = work_timed(functions[function % 3], rounds);

	if (pwrite((int)fd, &cpu_ns, sizeof(cpu_ns), (off_t)(slot * sizeof(cpu_ns))) !=
	    sizeof(cpu_ns))
		work_die("pwrite");
	return 0;
}
