/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fork_only [MS] - children that never exec: their mappings are those of their parent, and a
 * grandchild's are those of its grandparent. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

enum {
	NR_GENERATIONS = 3,
	NR_CHUNKS = 10
};

WORK_FUNCTION(generation_0)
WORK_FUNCTION(generation_1)
WORK_FUNCTION(generation_2)

static const work_fn functions[NR_GENERATIONS] = { generation_0, generation_1,
						   generation_2 };
static const unsigned int weights[NR_GENERATIONS] = { 2, 5, 3 };

struct slot {
	pid_t pid;
	uint64_t cpu_ns;
};

/* Starts the next generation first, so that all of them run at the same time. */
static void generation_run(struct slot *slots, int generation, uint64_t rounds)
{
	pid_t child = -1;

	if (generation + 1 < NR_GENERATIONS) {
		child = fork();
		if (child < 0)
			work_die("fork");
		if (child == 0) {
			generation_run(slots, generation + 1, rounds);
			_exit(0);
		}
	}
	slots[generation].pid = getpid();
	for (int i = 0; i < NR_CHUNKS; i++)
		slots[generation].cpu_ns +=
			work_timed(functions[generation], rounds * weights[generation]);
	if (child > 0)
		waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	uint64_t ms = work_argument(argc, argv, 1, 2000), total = 0;
	struct slot *slots =
		mmap(NULL, NR_GENERATIONS * sizeof(*slots), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char values[64];

	if (slots == MAP_FAILED)
		work_die("mmap");
	generation_run(slots, 0, work_rounds_per_ms() * ms / (10 * NR_CHUNKS));
	for (int i = 0; i < NR_GENERATIONS; i++)
		total += slots[i].cpu_ns;
	for (int i = 0; i < NR_GENERATIONS; i++) {
		snprintf(values, sizeof(values), "%d,generation_%d", slots[i].pid, i);
		work_print_share("pid,symbol", values, slots[i].cpu_ns, total);
		snprintf(values, sizeof(values), "*/fork_only,generation_%d", i);
		work_print_share("app,symbol", values, slots[i].cpu_ns, total);
	}
	work_print_cpu("pid,symbol", total);
	return 0;
}
