/* event_counters.h - which of a CPU's counters can count an event, and whether several events
 * find one each.
 * Layer: capture.  Counters are bits: the general ones from 0 on, those that count one event alone
 * ("fixed") from 32 on, as the kernel numbers Intel's (INTEL_PMC_IDX_FIXED). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cpu_type;

enum {
	EVENT_COUNTER_FIXED = 32,
	EVENT_COUNTERS_MAX = 64,
	EVENT_COUNTERS_TEXT = 160
};

/* The general counters of a CPU with `nr` of them. */
uint64_t event_counters_general(unsigned int nr);
/* Those of an event with the code `config`, of which a list says `listed` (0: nothing, any general
 * one).  0: any, and how many there are is not known. */
uint64_t event_counters_of(const struct cpu_type *cpu, unsigned int nr_general,
			   uint64_t listed, uint64_t config);
/* The counters of the kernel's generic hardware event `config` (PERF_COUNT_HW_*). */
uint64_t event_counters_of_generic(const struct cpu_type *cpu, unsigned int nr_general,
				   uint64_t config);
/* A counter for each of `nr` events (at most EVENT_COUNTERS_MAX), of which counters[i] are those
 * that can count it.  How many of the first ones can be counted together: `nr` if all can; for
 * these ret_counter[] has the counter. */
size_t event_counters_assign(const uint64_t *counters, size_t nr,
			     unsigned int *ret_counter);
/* "all", "0, 1, 2, 3", or where no general one counts it "fixed 2". */
void event_counters_text(uint64_t counters, char ret_text[EVENT_COUNTERS_TEXT]);
