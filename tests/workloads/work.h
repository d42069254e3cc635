/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work.h - work of known cost, for programs whose profile is known by construction.
 *
 * A work function is one loop of dependent register operations in a separate function with
 * its own cache line: no memory accesses and no calls, so its cost is proportional to its
 * rounds, and each of its samples has its symbol.  The actual cost is measured with the clock
 * by which the scheduler charges the thread.
 *
 * A workload prints the expected profile on stdout at its end, one statement per line:
 *  share KEYS VALUES FRACTION   of all samples that match some share line with the same
 *                               KEYS, this fraction matches VALUES
 *  absent KEYS VALUES           no sample may match
 *  distinct KEYS VALUES N       at least N different rows match
 *  cpu KEYS SECONDS             CPU time of the share lines with these KEYS
 * KEYS is an argument of `opreport --by`; VALUES are shell patterns separated by commas, one
 * for each key, with alternatives separated by |.
 *
 * Threads: all functions can be called from several threads. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Defines a work function. The empty asm statement keeps the compiler from computing the
 * result in advance, and its text makes every function different, so that none are merged. */
#define WORK_FUNCTION(name)                                                            \
	void name(uint64_t rounds);                                                    \
	__attribute__((noinline, aligned(64))) void name(uint64_t rounds)              \
	{                                                                              \
		uint64_t a = rounds | 1;                                               \
                                                                                       \
		for (uint64_t i = 0; i < rounds; i++) {                                \
			a = a * 0x27bb2ee687b0b0fdULL + i;                             \
			__asm__ volatile("/* " #name " */" : "+r"(a));                 \
		}                                                                      \
	}

typedef void (*work_fn)(uint64_t rounds);

struct work_part {
	const char *name; /* VALUES of its share line */
	work_fn run;
	unsigned int weight; /* its share of the work, relative to the others */
	uint64_t cpu_ns;     /* its CPU time so far */
};

/* Returns a random number, for lengths that must not synchronize with the sampling clock. */
uint32_t work_random(uint64_t *state);
/* Returns the CPU time of the calling thread in nanoseconds. */
uint64_t work_thread_ns(void);
/* Returns the number of rounds in about a millisecond on this machine. */
uint64_t work_rounds_per_ms(void);
/* Runs in slices and returns the CPU time, without time that the thread was charged while the
 * host halted the machine. */
uint64_t work_timed(work_fn run, uint64_t rounds);
/* Runs all parts repeatedly, for about `total_ms` of CPU time in `turns` rounds. Each part
 * gets time by its weight, with a length that varies from round to round. */
void work_run_parts(struct work_part *parts, size_t nr, unsigned int total_ms,
		    unsigned int turns);
/* Prints a share line for each part, and their CPU time. */
void work_print_shares(const char *keys, const struct work_part *parts, size_t nr);
void work_print_share(const char *keys, const char *values, uint64_t part_ns,
		      uint64_t total_ns);
void work_print_cpu(const char *keys, uint64_t total_ns);
/* Returns the n-th argument as a number, or `fallback` if it is missing; exits if it is not a
 * number. */
unsigned int work_argument(int argc, char **argv, int n, unsigned int fallback);
/* Returns the path of `name` in the directory of this program (malloc'd, caller frees). */
char *work_sibling(const char *name);
/* Prints what failed with errno's text, and exits with status 1. */
__attribute__((noreturn)) void work_die(const char *what);
/* Prints why the workload cannot run here, and exits with status 77. */
__attribute__((noreturn)) void work_skip(const char *why);
