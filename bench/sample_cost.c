/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_cost - measures the kernel's work for a sample without the timer interrupt, for three
 * events: one whose samples are not stored, one with the fields of flat profiles, and one with the
 * fields of complete stacks (the kernel's chain, registers, 16 KB of stack). Prints the
 * nanoseconds per sample: of the timer interrupt, and of the other two events without it; then the
 * same for a program that uses its caches. */
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "capture/events/sample_cost.h"

enum {
	STACK_BYTES = 16384,
	KINDS = 3
};

#ifdef __x86_64__
static const uint64_t user_regs = 0xff0fff;
#else
static const uint64_t user_regs = (1ULL << 33) - 1;
#endif
static const uint64_t flat =
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
static const uint64_t stacks =
	PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
static const uint32_t memory_bytes[] = { 0, 512 << 10 };

int main(void)
{
	static const char *const names[KINDS] = { "timer alone", "flat",
						  "whole stacks" };
	const struct perf_event_attr attrs[KINDS] = {
		{ .sample_type = PERF_SAMPLE_IP },
		{ .sample_type = flat },
		{ .sample_type = flat | stacks,
		  .sample_stack_user = STACK_BYTES,
		  .sample_regs_user = user_regs,
		  .exclude_callchain_user = 1 },
	};
	const struct sample_cost_kind kinds[KINDS] = { { &attrs[0], 0 },
						       { &attrs[1], 1 },
						       { &attrs[2], 1 } };
	uint64_t ns[KINDS];

	for (size_t m = 0; m < COUNT_OF(memory_bytes); m++) {
		const struct sample_cost_plan plan = { .memory_bytes = memory_bytes[m],
						       .round_ns = 4000000,
						       .nr_rounds = 200 };
		int r = sample_cost_measure(kinds, KINDS, &plan, ns);

		if (r) {
			fprintf(stderr, "sample_cost: %s\n", strerror(-r));
			return 1;
		}
		for (int i = 0; i < KINDS; i++)
			printf("%s%s %lld\n", names[i],
			       memory_bytes[m] ? ", beside 512 KB in use" : "",
			       (long long)ns[i] - (long long)(i ? ns[0] : 0));
	}
	return 0;
}
