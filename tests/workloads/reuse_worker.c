/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reuse_first, reuse_second ROUNDS FD SLOT - the two programs of pid_reuse.c. */
#include <unistd.h>

#include "work.h"

WORK_FUNCTION(REUSE_FUNCTION)

int main(int argc, char **argv)
{
	unsigned int rounds = work_argument(argc, argv, 1, 0);
	unsigned int fd = work_argument(argc, argv, 2, 1);
	unsigned int slot = work_argument(argc, argv, 3, 0);
	uint64_t cpu_ns = work_timed(REUSE_FUNCTION, rounds);

	if (pwrite((int)fd, &cpu_ns, sizeof(cpu_ns), (off_t)(slot * sizeof(cpu_ns))) !=
	    sizeof(cpu_ns))
		work_die("pwrite");
	return 0;
}
