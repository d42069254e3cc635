/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/events/event_counters.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "capture/events/cpu_types.h"

/* Events that fixed counters count in addition to the general ones: cycles and instructions on
 * Intel CPUs since the Core 2 (Software Developer's Manual 3B, 20.2.2), cycles on ARM since v7
 * (PMCCNTR). Reference cycles and slots have no code for general counters. */
static const struct fixed {
	const char *types; /* prefix of CPU type names */
	uint64_t config;
	uint64_t generic;
	unsigned int number;
	bool alone; /* general counters cannot count it */
} fixed_counters[] = {
	{ "i386/", 0xc0, PERF_COUNT_HW_INSTRUCTIONS, 0, false },
	{ "i386/", 0x3c, PERF_COUNT_HW_CPU_CYCLES, 1, false },
	{ "i386/", 0x300, PERF_COUNT_HW_REF_CPU_CYCLES, 2, true },
	{ "arm/", 0x11, PERF_COUNT_HW_CPU_CYCLES, 0, false },
};

uint64_t event_counters_general(unsigned int nr)
{
	return nr < EVENT_COUNTER_FIXED ? (1ULL << nr) - 1 : UINT32_MAX;
}

static uint64_t with_fixed(const struct cpu_type *cpu, uint64_t general,
			   uint64_t config, bool generic)
{
	for (size_t i = 0; i < COUNT_OF(fixed_counters); i++) {
		const struct fixed *f = &fixed_counters[i];

		if (strncmp(cpu->name, f->types, strlen(f->types)) != 0 ||
		    config != (generic ? f->generic : f->config))
			continue;
		return (f->alone ? 0 : general) |
		       1ULL << (EVENT_COUNTER_FIXED + f->number);
	}
	return general;
}

/* Returns the counters of an event of a POWER CPU. On POWER8 and later, the code contains the
 * number of one of the six counters, or 0 for any (arch/powerpc/perf/isa207-common.h,
 * EVENT_PMC_SHIFT). The kernel swaps equivalent codes for run cycles and instructions
 * (power8-pmu.c and power9-pmu.c, event_alternatives). */
static uint64_t of_power(const struct cpu_type *cpu, uint64_t config)
{
	static const struct {
		const char *name;
		bool swaps;
	} types[] = { { "ppc64/power8", true },
		      { "ppc64/power9", true },
		      { "ppc64/power10", false } };
	unsigned int number = config >> 16 & 0xf;

	for (size_t i = 0; i < COUNT_OF(types); i++) {
		if (strcmp(cpu->name, types[i].name) != 0 || number < 1 || number > 6)
			continue;
		if (types[i].swaps && (config == 0x200f4 || config == 0x600f4))
			return 1 << 1 | 1 << 5;
		if (types[i].swaps && (config == 0x400fa || config == 0x500fa))
			return 1 << 3 | 1 << 4;
		return 1ULL << (number - 1);
	}
	return 0;
}

uint64_t event_counters_of(const struct cpu_type *cpu, unsigned int nr_general,
			   uint64_t listed, uint64_t config)
{
	uint64_t general = event_counters_general(nr_general);

	if (!listed)
		listed = of_power(cpu, config);
	if (listed || !nr_general)
		return listed;
	return with_fixed(cpu, general, config, false);
}

uint64_t event_counters_of_generic(const struct cpu_type *cpu, unsigned int nr_general,
				   uint64_t config)
{
	return nr_general ? with_fixed(cpu, event_counters_general(nr_general), config,
				       true)
			  : 0;
}

/* ---- one counter each ---- */

struct counter_assignment {
	const uint64_t *counters; /* the possible counters of each event */
	/* index of the event plus 1; 0: free */
	unsigned int taken_by[EVENT_COUNTERS_MAX];
};

/* Finds a counter for the event, moving other events to other counters if needed. Returns false if
 * no counter is left for it. `seen` are the counters that were already tried. Each is tried once,
 * so the recursion depth is at most EVENT_COUNTERS_MAX. */
static bool event_counters_assign_one(struct counter_assignment *p, unsigned int event,
				      uint64_t *seen)
{
	for (unsigned int i = 0; i < EVENT_COUNTERS_MAX; i++)
		if (p->counters[event] & 1ULL << i && !p->taken_by[i]) {
			p->taken_by[i] = event + 1;
			return true;
		}
	for (unsigned int i = 0; i < EVENT_COUNTERS_MAX; i++) {
		uint64_t bit = 1ULL << i;

		if (!(p->counters[event] & bit) || (*seen & bit))
			continue;
		*seen |= bit;
		if (event_counters_assign_one(p, p->taken_by[i] - 1, seen)) {
			p->taken_by[i] = event + 1;
			return true;
		}
	}
	return false;
}

size_t event_counters_assign(const uint64_t *counters, size_t nr,
			     unsigned int *ret_counter)
{
	struct counter_assignment p = { .counters = counters };
	unsigned int done = 0;

	for (bool found = true; found && done < nr; done += found) {
		uint64_t seen = 0;

		found = done < EVENT_COUNTERS_MAX &&
			event_counters_assign_one(&p, done, &seen);
	}
	for (unsigned int i = 0; i < EVENT_COUNTERS_MAX; i++)
		if (p.taken_by[i])
			ret_counter[p.taken_by[i] - 1] = i;
	return done;
}

void event_counters_text(uint64_t counters, char ret_text[EVENT_COUNTERS_TEXT])
{
	bool general = counters & UINT32_MAX;
	unsigned int first = general ? 0 : EVENT_COUNTER_FIXED;
	size_t len = 0;

	(void)snprintf(ret_text, EVENT_COUNTERS_TEXT, "%s", counters ? "" : "all");
	for (unsigned int i = 0; i < EVENT_COUNTER_FIXED; i++)
		if (counters & 1ULL << (first + i))
			len += (size_t)snprintf(
				ret_text + len, EVENT_COUNTERS_TEXT - len, "%s%s%u",
				len ? ", " : "", general ? "" : "fixed ", i);
}
