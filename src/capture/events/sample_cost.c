/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/sample_cost.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/events/perf_attr.h"

enum {
	RATE_HZ = 9973,
	RING_PAGES = 128,
	/* The computation uses several KB of stack, so that there is a stack to copy. */
	FRAME_BYTES = 512,
	DEPTH_MAX = 32,
	LEAF_ROUNDS = 8000,
	LEAF_STEPS = 2000,
	LINE_BYTES = 64,
	LINE_WORDS = LINE_BYTES / sizeof(uint32_t),
	FIRST_WALKS = 8,
	MOST_WALKS = 1 << 24,
	TRIES = 3
};

/* Visits all cache lines of a memory area in an order that the CPU cannot predict: each line
 * contains the index of the next. */
struct sample_cost_walk {
	uint32_t *lines; /* NULL: no memory is used */
	uint32_t at;
};

/* Creates one cycle through all lines (Sattolo's algorithm). Returns 0 or -ENOMEM. */
static int walk_init(struct sample_cost_walk *w, uint32_t bytes)
{
	uint32_t nr = bytes / LINE_BYTES;
	uint64_t seed = 1;

	*w = (struct sample_cost_walk){ 0 };
	if (nr < 2)
		return 0;
	w->lines = malloc((size_t)nr * LINE_BYTES);
	if (!w->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		w->lines[i * LINE_WORDS] = i * LINE_WORDS;
	for (uint32_t i = nr - 1; i; i--) {
		uint32_t *mine = &w->lines[i * LINE_WORDS];
		uint32_t *other;
		uint32_t swap = *mine;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		other = &w->lines[(seed >> 33) % i * LINE_WORDS];
		*mine = *other;
		*other = swap;
	}
	return 0;
}

static uint64_t leaf(struct sample_cost_walk *w, uint64_t a)
{
	if (w->lines) {
		for (unsigned int i = 0; i < LEAF_STEPS; i++)
			w->at = w->lines[w->at];
		return a + w->at;
	}
	for (unsigned int i = 0; i < LEAF_ROUNDS; i++) {
		a = a * 0x27bb2ee687b0b0fdULL + i;
		__asm__ volatile("" : "+r"(a));
	}
	return a;
}

/* NOLINTNEXTLINE(misc-no-recursion): the purpose is to create a deep stack. */
__attribute__((noinline)) static uint64_t descend(struct sample_cost_walk *w,
						  unsigned int depth, uint64_t a)
{
	volatile char frame[FRAME_BYTES];

	frame[0] = (char)depth;
	a = depth ? descend(w, depth - 1, a) : leaf(w, a);
	return a + (uint64_t)frame[0];
}

static uint64_t compute_ns(struct sample_cost_walk *w, unsigned int nr_walks)
{
	uint64_t begin = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t a = begin;

	for (unsigned int i = 0; i < nr_walks; i++)
		a = descend(w, i % DEPTH_MAX, a);
	__asm__ volatile("" ::"r"(a));
	return clock_now_ns(CLOCK_MONOTONIC) - begin;
}

/* Returns an attr whose samples have the same contents as those of `kind`. Its event is the
 * thread's clock, and its ring is overwritten when full (perf_event_open(2), write_backward). */
static struct perf_event_attr measured(const struct sample_cost_kind *kind)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		/* Use a period, because frequencies are limited (perf_event_max_sample_rate). */
		.sample_period = NS_PER_S / RATE_HZ,
		.write_backward = 1
	};
	const struct perf_event_attr *like = kind->attr;

	a.sample_type = like->sample_type & ~(uint64_t)PERF_SAMPLE_READ;
	a.sample_regs_user = like->sample_regs_user;
	a.sample_stack_user = like->sample_stack_user;
	a.sample_max_stack = like->sample_max_stack;
	a.exclude_callchain_user = like->exclude_callchain_user;
	a.exclude_callchain_kernel = like->exclude_callchain_kernel;
	perf_attr_set_bit(&a, PERF_ATTR_DEFER_CALLCHAIN,
			  perf_attr_bit(like, PERF_ATTR_DEFER_CALLCHAIN));
	return a;
}

/* Runs one round of the computation. Returns its nanoseconds, or a negative errno. */
static int64_t sample_cost_round(const struct sample_cost_kind *kind,
				 struct sample_cost_walk *w, unsigned int nr_walks)
{
	const size_t bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = measured(kind);
	int fd = perf_attr_open(&attr, 0, -1);
	void *ring = NULL;
	int64_t result;

	if (fd < 0)
		return fd;
	if (kind->keeps)
		ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	result = ring == MAP_FAILED ? -errno : (int64_t)compute_ns(w, nr_walks);
	if (ring && ring != MAP_FAILED)
		munmap(ring, bytes);
	close(fd);
	return result;
}

/* Returns the minimum of several rounds, because other tasks can use the CPU during a round. */
static uint64_t least_ns(struct sample_cost_walk *w, unsigned int nr_walks)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ns = compute_ns(w, nr_walks);

		least = ns < least ? ns : least;
	}
	return least;
}

static unsigned int find_nr_walks(struct sample_cost_walk *w, uint64_t round_ns)
{
	unsigned int nr_walks = FIRST_WALKS;

	while (nr_walks < MOST_WALKS && least_ns(w, nr_walks) < round_ns)
		nr_walks *= 2;
	return nr_walks;
}

static int measure_kinds(const struct sample_cost_kind *kinds, unsigned int nr,
			 const struct sample_cost_plan *plan,
			 struct sample_cost_walk *w, uint64_t *ret_ns)
{
	unsigned int nr_walks = find_nr_walks(w, plan->round_ns);
	uint64_t plain = UINT64_MAX;

	for (unsigned int k = 0; k < nr; k++)
		ret_ns[k] = UINT64_MAX;
	for (unsigned int i = 0; i < plan->nr_rounds; i++) {
		uint64_t ns = compute_ns(w, nr_walks);

		plain = ns < plain ? ns : plain;
		for (unsigned int k = 0; k < nr; k++) {
			int64_t with = sample_cost_round(&kinds[k], w, nr_walks);

			if (with < 0)
				return (int)with;
			ret_ns[k] =
				(uint64_t)with < ret_ns[k] ? (uint64_t)with : ret_ns[k];
		}
	}
	for (unsigned int k = 0; k < nr; k++)
		ret_ns[k] = ret_ns[k] <= plain
				    ? 0
				    : (uint64_t)((double)(ret_ns[k] - plain) * 1e9 /
						 ((double)ret_ns[k] * RATE_HZ));
	return 0;
}

int sample_cost_measure(const struct sample_cost_kind *kinds, unsigned int nr,
			const struct sample_cost_plan *plan, uint64_t *ret_ns)
{
	struct sample_cost_walk w;
	int r = walk_init(&w, plan->memory_bytes);

	if (!r)
		r = measure_kinds(kinds, nr, plan, &w, ret_ns);
	free(w.lines);
	return r;
}
