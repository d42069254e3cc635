/* sample_cost - what the kernel does for a sample beside the timer's interrupt: the same computation,
 * 4 KB to 16 KB below the begin of its stack, without an event, with one of 9973 Hz whose samples go nowhere,
 * one that writes what flat profiles need, and one that writes what whole stacks need (the kernel's chain,
 * registers, 16 KB of stack).  Prints nanoseconds a sample: of the timer's interrupt, and of the others
 * beside it, by the least time of several turns.  The rings are overwritten: nobody has to read them. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RATE_HZ = 9973,
	STACK_BYTES = 16384,
	RING_PAGES = 128,
	FRAME_BYTES = 512,
	DEPTH_MAX = 32,
	ROUNDS = 20000,
	LEAF_ROUNDS = 8000,
	TURNS = 15
};

static const struct {
	const char *name;
	uint64_t type; /* 0: no event */
	int has_ring;
} kinds[] = {
	{ "no samples", 0, 0 },
	{ "timer alone", PERF_SAMPLE_IP, 0 },
	{ "flat", PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	  1 },
	{ "whole stacks",
	  PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		  PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
		  PERF_SAMPLE_STACK_USER,
	  1 },
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t leaf(uint64_t a)
{
	for (unsigned int i = 0; i < LEAF_ROUNDS; i++) {
		a = a * 0x27bb2ee687b0b0fdULL + i;
		__asm__ volatile("" : "+r"(a));
	}
	return a;
}

__attribute__((noinline)) static uint64_t descend(unsigned int depth, uint64_t a)
{
	volatile char frame[FRAME_BYTES];

	frame[0] = (char)depth;
	a = depth ? descend(depth - 1, a) : leaf(a);
	return a + (uint64_t)frame[0];
}

static int open_event(int kind, void **ret_ring)
{
	const size_t bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK,
					.freq = 1,
					.sample_freq = RATE_HZ,
					.sample_type = kinds[kind].type,
					.write_backward = 1,
					.exclude_callchain_user = 1 };
	int fd;

	if (attr.sample_type & PERF_SAMPLE_STACK_USER) {
		attr.sample_stack_user = STACK_BYTES;
#ifdef __x86_64__
		attr.sample_regs_user = 0xff0fff;
#else
		attr.sample_regs_user = (1ULL << 33) - 1;
#endif
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	*ret_ring = MAP_FAILED;
	if (fd >= 0 && kinds[kind].has_ring)
		*ret_ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || (kinds[kind].has_ring && *ret_ring == MAP_FAILED)) {
		perror(kinds[kind].name);
		exit(1);
	}
	return fd;
}

/* Nanoseconds of a turn. */
static uint64_t turn(int kind)
{
	const size_t bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	void *ring = MAP_FAILED;
	int fd = kinds[kind].type ? open_event(kind, &ring) : -1;
	uint64_t begin = now_ns(), a = begin;

	for (unsigned int i = 0; i < ROUNDS; i++)
		a = descend(i % DEPTH_MAX, a);
	__asm__ volatile("" ::"r"(a));
	begin = now_ns() - begin;
	if (ring != MAP_FAILED)
		munmap(ring, bytes);
	if (fd >= 0)
		close(fd);
	return begin;
}

int main(void)
{
	uint64_t least_ns[KINDS];

	memset(least_ns, 0xff, sizeof(least_ns));
	for (int i = 0; i < TURNS; i++)
		for (int kind = 0; kind < KINDS; kind++) {
			uint64_t ns = turn(kind);

			if (ns < least_ns[kind])
				least_ns[kind] = ns;
		}
	/* The interrupt by itself, and what the others have beside it. */
	for (int kind = 1; kind < KINDS; kind++)
		printf("%s %.0f\n", kinds[kind].name,
		       ((double)least_ns[kind] - (double)least_ns[kind > 1]) /
			       ((double)least_ns[kind] * RATE_HZ / 1e9));
	return 0;
}
