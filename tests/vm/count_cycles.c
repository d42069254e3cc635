/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count_cycles PROGRAM ARGUMENT...: runs it and prints the cycles that the CPU counted in that
 * time in user and kernel space, for comparison with sampling by overflow. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_counter(pid_t pid)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.disabled = 1,
					.enable_on_exec = 1,
					.inherit = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0UL);
}

static void run(char **argv, int begin)
{
	char byte;

	if (read(begin, &byte, 1) == 1)
		execv(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	uint64_t cycles;
	int begin[2];
	int counter, status;
	pid_t pid;

	if (argc < 2 || pipe(begin))
		return 2;
	pid = fork();
	if (!pid)
		run(argv + 1, begin[0]);
	counter = pid < 0 ? -1 : open_counter(pid);
	if (counter < 0 || write(begin[1], "x", 1) != 1) {
		perror("cycles");
		return 1;
	}
	if (waitpid(pid, &status, 0) != pid || status ||
	    read(counter, &cycles, sizeof(cycles)) != sizeof(cycles))
		return 1;
	printf("%llu\n", (unsigned long long)cycles);
	return 0;
}
