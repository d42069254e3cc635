/* SPDX-License-Identifier: GPL-2.0-or-later */
/* work.h - work whose cost is known, for programs whose profile is known by construction.
 *
 * A work function is one loop of dependent register operations in a function of its own
 * cache line: no memory traffic, no calls, so its cost is proportional to its rounds and
 * every sample of it lands in its symbol.  What it really cost is measured with the clock
 * that the scheduler charges the thread by.
 *
 * A workload prints its truth on stdout when it is done, one statement a line:
 *   share KEYS VALUES FRACTION   of all samples that match some share line with the same
 *                                KEYS, this fraction matches VALUES
 *   absent KEYS VALUES           no sample may match
 *   distinct KEYS VALUES N       at least N different rows match
 *   cpu KEYS SECONDS             so much CPU time the share lines with these KEYS took
 * KEYS is what `opreport --by` takes; VALUES are shell patterns separated by commas, one
 * for each key, alternatives of one key separated by |.
 *
 * Threads: everything here may be used by many. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Defines a work function.  The empty statement keeps the compiler from guessing the
 * result, and its text makes every function different, so that none are merged. */
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
	unsigned int weight; /* its part of the work, relative to the others' */
	uint64_t cpu_ns;     /* what it cost so far */
};

/* A small generator for lengths that must not keep step with the sampling clock. */
uint32_t work_random(uint64_t *state);
/* CPU time of the calling thread. */
uint64_t work_thread_ns(void);
/* How many rounds take about a millisecond here. */
uint64_t work_rounds_per_ms(void);
/* Runs in slices and returns the CPU time that it took, without what the thread was charged
 * while the machine stood still. */
uint64_t work_timed(work_fn run, uint64_t rounds);
/* Runs all parts in turn, again and again, each by its weight and with lengths that vary
 * from turn to turn, for about `total_ms` of CPU time in `turns` turns. */
void work_run_parts(struct work_part *parts, size_t nr, unsigned int total_ms,
		    unsigned int turns);
/* Prints a share line for each part, and their CPU time. */
void work_print_shares(const char *keys, const struct work_part *parts, size_t nr);
void work_print_share(const char *keys, const char *values, uint64_t part_ns,
		      uint64_t total_ns);
void work_print_cpu(const char *keys, uint64_t total_ns);
/* The n-th argument as a number, or `fallback` if there is none; exits if it is not a number. */
unsigned int work_argument(int argc, char **argv, int n, unsigned int fallback);
/* malloc'd path of `name` in the directory of this program. */
char *work_sibling(const char *name);
/* Says what failed with errno's text, and exits with 1. */
__attribute__((noreturn)) void work_die(const char *what);
/* Says why the workload cannot run here, and exits with 77. */
__attribute__((noreturn)) void work_skip(const char *why);
