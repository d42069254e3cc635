/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "work.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	SKIPPED = 77,           /* exit status that test runners report as skipped */
	SLICE_ROUNDS = 1 << 17, /* a fraction of a millisecond */
	SLICE_SLOWER = 4,
	CALIBRATION_RUNS = 16
};

WORK_FUNCTION(work_calibrate)

uint32_t work_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

uint64_t work_thread_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* If the host halts a virtual machine for a while, that time is charged to the running thread,
 * but no samples are taken. So a slice counts at most a few times the fastest slice, as much
 * as a busy sibling CPU or a lower clock rate can cause. */
uint64_t work_timed(work_fn run, uint64_t rounds)
{
	static _Thread_local uint64_t best = UINT64_MAX;
	uint64_t total = 0, begin = work_thread_ns();

	while (rounds) {
		uint64_t now, ns, slice = rounds < SLICE_ROUNDS ? rounds : SLICE_ROUNDS;

		run(slice);
		now = work_thread_ns();
		ns = now - begin;
		begin = now;
		rounds -= slice;
		if (slice == SLICE_ROUNDS && ns < best)
			best = ns;
		total += ns / SLICE_SLOWER > best ? best * SLICE_SLOWER : ns;
	}
	return total;
}

/* Takes the fastest of several runs: an interrupt can only slow a run down. */
uint64_t work_rounds_per_ms(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < CALIBRATION_RUNS; i++) {
		uint64_t ns = work_timed(work_calibrate, SLICE_ROUNDS);

		if (ns < best)
			best = ns;
	}
	return best ? (uint64_t)SLICE_ROUNDS * 1000000 / best : SLICE_ROUNDS;
}

void work_run_parts(struct work_part *parts, size_t nr, unsigned int total_ms,
		    unsigned int turns)
{
	uint64_t rounds = work_rounds_per_ms() * total_ms / turns;
	uint64_t weights = 0, seed = (uint64_t)getpid();

	for (size_t i = 0; i < nr; i++)
		weights += parts[i].weight;
	for (unsigned int turn = 0; turn < turns; turn++) {
		/* From 3/4 to 5/4, the same for all parts: ratios stay exact. */
		uint64_t factor = 768 + work_random(&seed) % 513;
		uint64_t unit = rounds / weights * factor / 1024;

		for (size_t i = 0; i < nr; i++)
			parts[i].cpu_ns +=
				work_timed(parts[i].run, unit * parts[i].weight);
	}
}

void work_print_share(const char *keys, const char *values, uint64_t part_ns,
		      uint64_t total_ns)
{
	printf("share %s %s %.6f\n", keys, values,
	       total_ns ? (double)part_ns / (double)total_ns : 0.0);
}

void work_print_cpu(const char *keys, uint64_t total_ns)
{
	printf("cpu %s %.6f\n", keys, (double)total_ns / 1e9);
}

void work_print_shares(const char *keys, const struct work_part *parts, size_t nr)
{
	uint64_t total = 0;

	for (size_t i = 0; i < nr; i++)
		total += parts[i].cpu_ns;
	for (size_t i = 0; i < nr; i++)
		work_print_share(keys, parts[i].name, parts[i].cpu_ns, total);
	work_print_cpu(keys, total);
}

unsigned int work_argument(int argc, char **argv, int n, unsigned int fallback)
{
	char *end;
	unsigned long value;

	if (n >= argc)
		return fallback;
	errno = 0;
	value = strtoul(argv[n], &end, 10);
	if (errno || end == argv[n] || *end || value > UINT_MAX) {
		fprintf(stderr, "%s: not a number: %s\n", argv[0], argv[n]);
		exit(2);
	}
	return (unsigned int)value;
}

char *work_sibling(const char *name)
{
	char self[PATH_MAX];
	char *path;
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		work_die("/proc/self/exe");
	self[len] = '\0';
	if (asprintf(&path, "%s/%s", dirname(self), name) < 0)
		work_die("asprintf");
	return path;
}

void work_die(const char *what)
{
	perror(what);
	exit(1);
}

void work_skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(SKIPPED);
}
