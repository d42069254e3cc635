/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exec_chain_{a,b,c} [MS [TURN NS-A NS-B NS-C]] - three programs that one process executes in
 * turn: each works, then executes the next. They are linked for fixed addresses, so that all
 * three functions have the same address and only the executed program distinguishes them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

enum {
	NR_STAGES = 3,
	NR_TURNS = 15 /* execs in all; a multiple of the stages */
};

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define STAGE_FUNCTION JOIN(chain_work_, STAGE_LETTER)

WORK_FUNCTION(STAGE_FUNCTION)

static const char letters[] = "abc";
static const unsigned int weights[NR_STAGES] = { 6, 1, 3 };

static void print_truth(const uint64_t *cpu_ns)
{
	uint64_t total = cpu_ns[0] + cpu_ns[1] + cpu_ns[2];
	char values[96];

	for (int i = 0; i < NR_STAGES; i++) {
		char c = letters[i];

		snprintf(values, sizeof(values), "*/exec_chain_%c,chain_work_%c", c, c);
		work_print_share("image,symbol", values, cpu_ns[i], total);
		snprintf(values, sizeof(values), "exec_chain_%c,chain_work_%c", c, c);
		work_print_share("comm,symbol", values, cpu_ns[i], total);
		snprintf(values, sizeof(values), "%d,*/exec_chain_%c,chain_work_%c",
			 getpid(), c, c);
		work_print_share("pid,app,symbol", values, cpu_ns[i], total);
	}
	work_print_cpu("image,symbol", total);
}

/* Executes the next program of the chain. */
static void next_stage(unsigned int ms, unsigned int turn, const uint64_t *cpu_ns)
{
	char name[] = "exec_chain_?", text[NR_STAGES + 2][24];
	char *path;

	name[sizeof(name) - 2] = letters[turn % NR_STAGES];
	path = work_sibling(name);
	snprintf(text[0], sizeof(text[0]), "%u", ms);
	snprintf(text[1], sizeof(text[1]), "%u", turn);
	for (int i = 0; i < NR_STAGES; i++)
		snprintf(text[i + 2], sizeof(text[0]), "%llu",
			 (unsigned long long)cpu_ns[i]);
	execl(path, path, text[0], text[1], text[2], text[3], text[4], NULL);
	work_die(path);
}

int main(int argc, char **argv)
{
	unsigned int ms = work_argument(argc, argv, 1, 2000);
	unsigned int turn = work_argument(argc, argv, 2, 0);
	uint64_t cpu_ns[NR_STAGES] = { 0 }, seed = turn, rounds;

	for (int i = 0; i < NR_STAGES && i + 3 < argc; i++)
		cpu_ns[i] = strtoull(argv[i + 3], NULL, 10);
	work_random(&seed);
	rounds = work_rounds_per_ms() * ms * NR_STAGES / NR_TURNS;
	rounds = rounds * weights[turn % NR_STAGES] / 10;
	rounds = rounds * (768 + work_random(&seed) % 513) / 1024;
	cpu_ns[turn % NR_STAGES] += work_timed(STAGE_FUNCTION, rounds);
	if (turn + 1 < NR_TURNS)
		next_stage(ms, turn + 1, cpu_ns);
	print_truth(cpu_ns);
	return 0;
}
