/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_cost.h - measures the CPU time that the kernel needs for a sample: for the interrupt,
 * and for what it writes.
 * Layer: capture.  The kernel does not report it, so this measures how much longer a
 * computation takes with samples than without. */
#pragma once
#include <stdint.h>

struct perf_event_attr;

struct sample_cost_kind {
	const struct perf_event_attr
		*attr; /* only its sample_type and related fields matter */
	/* samples are written to a ring; otherwise only the interrupt is measured */
	int keeps;
};

struct sample_cost_plan {
	/* Memory that the computation accesses continuously, as programs do. The interrupt
	 * evicts some of it from the CPU's caches, which has to be loaded again. 0: none. */
	uint32_t memory_bytes;
	uint64_t round_ns; /* of one round; can take up to twice as long */
	unsigned int
		nr_rounds; /* rounds of each kind and without samples, alternating; the minimum
                        * counts */
};

/* Sets ret_ns[] for each kind to the nanoseconds that one cpu-clock sample costs with the
 * contents its attr requests, including the timer interrupt; 0 if it is too small to measure.
 * Takes up to twice (nr + 1) * nr_rounds * round_ns of the calling thread. Returns 0 or a negative
 * errno (no permission ...). */
int sample_cost_measure(const struct sample_cost_kind *kinds, unsigned int nr,
			const struct sample_cost_plan *plan, uint64_t *ret_ns);
