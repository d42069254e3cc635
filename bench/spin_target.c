/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spin_target SECONDS FILE [THREADS] - the program that the benchmarks record. Each thread
 * computes for SECONDS at changing depths of a recursion, so that call chains have 4 to 30 frames,
 * and sometimes calls the kernel. Writes its CPU time in microseconds to FILE, so that it can be
 * subtracted. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	MAX_THREADS = 64,
	LEAF_ROUNDS = 20000
};

static double end_s;

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noinline)) static uint64_t leaf(uint64_t a)
{
	for (uint64_t i = 0; i < LEAF_ROUNDS; i++) {
		a = a * 0x27bb2ee687b0b0fdULL + i;
		__asm__ volatile("" : "+r"(a));
	}
	return a;
}

/* This must not become a tail call, because the frames must exist. */
__attribute__((noinline)) static uint64_t descend(unsigned int depth, uint64_t a)
{
	a = depth ? descend(depth - 1, a + depth) : leaf(a);
	__asm__ volatile("" : "+r"(a));
	return a + 1;
}

static void *spin(void *arg)
{
	uint64_t a = (uint64_t)(uintptr_t)arg;

	for (unsigned int turn = 0; now_s() < end_s; turn++) {
		a = descend(2 + turn % 26, a);
		if (turn % 16 == 0)
			a += (uint64_t)getppid();
	}
	return (void *)(uintptr_t)a;
}

static uint64_t cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	unsigned long nr = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	FILE *out;

	if (argc < 3 || nr < 1 || nr > MAX_THREADS) {
		fprintf(stderr, "usage: spin_target SECONDS FILE [THREADS]\n");
		return 2;
	}
	end_s = now_s() + strtod(argv[1], NULL);
	for (unsigned long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, spin, (void *)i))
			return 1;
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	out = fopen(argv[2], "we");
	if (!out)
		return 1;
	fprintf(out, "%llu\n", (unsigned long long)cpu_us());
	return fclose(out) ? 1 : 0;
}
