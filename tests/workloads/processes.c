/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes [N] - runs N (2000) processes one after the other, each for a few milliseconds:
 * fork, exec of short_worker, work in one of its three functions, exit.
 *
 * The clock of an inherited event starts again in every process, so a process gets one sample
 * for each full period that it runs: on average half a sample too few.  The lengths therefore
 * vary over several periods and have the same distribution for all functions, so that only the
 * number of processes determines the shares.  No process runs for less than one and a half
 * periods at 997 Hz, so each has a sample. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum {
	NR_FUNCTIONS = 3
};

struct parent {
	char *worker;
	int slots_fd;
};

/* Selects the functions in five, three and two of ten processes. */
static unsigned int function_of(uint32_t random)
{
	return random % 10 < 5 ? 0 : random % 10 < 8 ? 1 : 2;
}

static void run_worker(const struct parent *p, unsigned int function, uint64_t rounds,
		       unsigned int slot)
{
	char text[4][24];
	int status;
	pid_t pid;

	snprintf(text[0], sizeof(text[0]), "%u", function);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)rounds);
	snprintf(text[2], sizeof(text[2]), "%d", p->slots_fd);
	snprintf(text[3], sizeof(text[3]), "%u", slot);
	pid = fork();
	if (pid < 0)
		work_die("fork");
	if (pid == 0) {
		execl(p->worker, p->worker, text[0], text[1], text[2], text[3], NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		work_die(p->worker);
}

int main(int argc, char **argv)
{
	unsigned int nr = work_argument(argc, argv, 1, 2000);
	uint64_t per_ms = work_rounds_per_ms(), seed = 1, total = 0;
	uint64_t cpu_ns[NR_FUNCTIONS] = { 0 };
	struct parent p = { .worker = work_sibling("short_worker") };
	char values[64];

	/* Without MFD_CLOEXEC, because the workers write to it. */
	p.slots_fd = memfd_create("slots", 0);
	if (p.slots_fd < 0)
		work_die("memfd_create");
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t rounds = per_ms * (1536 + work_random(&seed) % 1024) / 1024;
		unsigned int function = function_of(work_random(&seed));
		uint64_t cost;

		run_worker(&p, function, rounds, i);
		if (pread(p.slots_fd, &cost, sizeof(cost), (off_t)(i * sizeof(cost))) !=
		    sizeof(cost))
			work_die("pread");
		cpu_ns[function] += cost;
		total += cost;
	}
	for (unsigned int i = 0; i < NR_FUNCTIONS; i++) {
		snprintf(values, sizeof(values), "*/short_worker,short_work_%u", i);
		work_print_share("image,symbol", values, cpu_ns[i], total);
		snprintf(values, sizeof(values),
			 "*/short_worker,short_worker,short_work_%u", i);
		work_print_share("app,comm,symbol", values, cpu_ns[i], total);
	}
	/* Counted by application: if the host delayed a process's ticks, all of its samples
	 * can be in the kernel. */
	printf("distinct pid,app *,*/short_worker %u\n", nr);
	printf("absent comm,symbol processes,short_work_?\n");
	free(p.worker);
	return 0;
}
