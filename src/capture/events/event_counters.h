/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_counters.h - determines which of a CPU's counters can count an event, and whether several
 * events can be counted together.
 * Layer: capture. A set of counters is a bit mask: general counters from bit 0, counters for one
 * specific event ("fixed") from bit 32, as the kernel numbers those of Intel
 * (INTEL_PMC_IDX_FIXED). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cpu_type;

enum {
	EVENT_COUNTER_FIXED = 32,
	EVENT_COUNTERS_MAX = 64,
	EVENT_COUNTERS_TEXT = 160
};

/* Returns the set of all general counters of a CPU that has `nr`. */
uint64_t event_counters_general(unsigned int nr);
/* Returns the counters of the event with the code `config`. `listed` are its counters according to
 * a list (0: any). Returns 0 if any counter can count it and their number is unknown. */
uint64_t event_counters_of(const struct cpu_type *cpu, unsigned int nr_general,
			   uint64_t listed, uint64_t config);
/* Returns the counters of the kernel's generic hardware event `config` (PERF_COUNT_HW_*). */
uint64_t event_counters_of_generic(const struct cpu_type *cpu, unsigned int nr_general,
				   uint64_t config);
/* Assigns a counter to each of `nr` events (at most EVENT_COUNTERS_MAX); counters[i] are those
 * that can count event i. Returns how many of the first events can be counted together (`nr` if
 * all can), and sets ret_counter[] for these. */
size_t event_counters_assign(const uint64_t *counters, size_t nr,
			     unsigned int *ret_counter);
/* Formats "all", "0, 1, 2, 3", or "fixed 2" if no general counter can count it. */
void event_counters_text(uint64_t counters, char ret_text[EVENT_COUNTERS_TEXT]);
