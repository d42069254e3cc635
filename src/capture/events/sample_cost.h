/* sample_cost.h - what the kernel takes of a CPU for a sample: the interrupt, and what it writes.
 * Layer: capture.  Nobody tells: it is measured, by how much longer a computation takes. */
#pragma once
#include <stdint.h>

struct perf_event_attr;

struct sample_cost_kind {
	const struct perf_event_attr
		*attr; /* its sample_type and what belongs to it count */
	int keeps;     /* samples go to a ring; else the interrupt is all */
};

struct sample_cost_plan {
	/* What the computation goes through all the time, as programs do: what an interrupt pushes
	 * out of the caches next to the processor has to be fetched again.  0: nothing. */
	uint32_t memory_bytes;
	uint64_t turn_ns; /* of one turn; up to twice that */
	unsigned int
		turns; /* of each kind and without, one after the other; the least counts */
};

/* Fills *ret_ns of each kind with the nanoseconds that a sample of the CPU's clock costs with what that
 * attr writes, the timer's interrupt included; 0: it is lost in the noise.  Takes up to twice (nr + 1) *
 * turns * turn_ns of the calling thread.  0 or a negative errno (no rights ...). */
int sample_cost_measure(const struct sample_cost_kind *kinds, unsigned int nr,
			const struct sample_cost_plan *plan, uint64_t *ret_ns);
