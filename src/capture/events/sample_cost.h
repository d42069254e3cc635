/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_cost.h - measures the CPU time that the kernel needs for a sample: for the interrupt and
 * for writing the record.
 * Layer: capture. The kernel does not report it, so this measures how much longer a computation
 * takes with samples than without. */
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
	/* Memory that the computation accesses continuously, as programs do. The interrupt evicts
	 * some of it from the CPU's caches, and reloading that is part of the cost. 0: none. */
	uint32_t memory_bytes;
	/* Duration of one round, which can take up to twice as long. */
	uint64_t round_ns;
	/* Number of rounds with each kind of sample and without samples, which alternate. The
	 * shortest round of each counts. */
	unsigned int nr_rounds;
};

/* Sets ret_ns[] for each kind to the nanoseconds that one cpu-clock sample costs with the contents
 * its attr requests, including the timer interrupt; 0 if it is too small to measure. Uses up to
 * twice (nr + 1) * nr_rounds * round_ns of CPU time in the calling thread. Returns 0 or a negative
 * errno (no permission ...). */
int sample_cost_measure(const struct sample_cost_kind *kinds, unsigned int nr,
			const struct sample_cost_plan *plan, uint64_t *ret_ns);
