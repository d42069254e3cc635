/* SPDX-License-Identifier: GPL-2.0-or-later */
/* faults N - touches N fresh pages as fast as it can and prints two numbers: the page faults
 * from main on, and those since the process was forked.  A recorder with one sample for each
 * fault since the exec has seen or lost a number between the two. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "work.h"

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

int main(int argc, char **argv)
{
	long before = faults(), after;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t nr = work_argument(argc, argv, 1, 100000);
	volatile char *pages = mmap(NULL, nr * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		work_die("mmap");
	madvise((void *)(uintptr_t)pages, nr * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < nr; i++)
		pages[i * page] = 1;
	after = faults();
	/* Printing can cause page faults, so _exit() follows directly. */
	dprintf(STDOUT_FILENO, "%ld %ld\n", after - before, after);
	_exit(0);
}
