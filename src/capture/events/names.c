/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names.c - the kernel's generic events: their names, types and codes. */
#include "base/array.h"
#include "capture/events/priv.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "capture/events/events.h"

#define SOFTWARE(word, other, id, least, text)                                         \
	{                                                                              \
		.name = (word), .alias = (other), .type = PERF_TYPE_SOFTWARE,          \
		.config = PERF_COUNT_SW_##id, .min_count = (least), .about = (text)    \
	}
#define HARDWARE(word, other, id, least, text)                                         \
	{                                                                              \
		.name = (word), .alias = (other), .type = PERF_TYPE_HARDWARE,          \
		.config = PERF_COUNT_HW_##id, .min_count = (least), .about = (text)    \
	}
/* perf_event_open(2): cache id | operation << 8 | result << 16. */
#define CACHE(word, id, op, result, text)                                              \
	{                                                                              \
		.name = (word), .type = PERF_TYPE_HW_CACHE,                            \
		.config = PERF_COUNT_HW_CACHE_##id |                                   \
			  PERF_COUNT_HW_CACHE_OP_##op << 8 |                           \
			  PERF_COUNT_HW_CACHE_RESULT_##result << 16,                   \
		.min_count = COUNT_MIN_OTHER, .about = (text)                          \
	}
#define CACHE_READS(word, id, of)                                                      \
	CACHE(word "-loads", id, READ, ACCESS, "loads from " of),                      \
		CACHE(word "-load-misses", id, READ, MISS, "loads that missed " of)
#define CACHE_WRITES(word, id, of)                                                     \
	CACHE(word "-stores", id, WRITE, ACCESS, "stores to " of),                     \
		CACHE(word "-store-misses", id, WRITE, MISS, "stores that missed " of)
#define CACHE_PREFETCHES(word, id, of)                                                 \
	CACHE(word "-prefetches", id, PREFETCH, ACCESS, "prefetches from " of),        \
		CACHE(word "-prefetch-misses", id, PREFETCH, MISS,                     \
		      "prefetches that missed " of)
#define CACHE_ALL(word, id, of)                                                        \
	CACHE_READS(word, id, of), CACHE_WRITES(word, id, of),                         \
		CACHE_PREFETCHES(word, id, of)

enum {
	/* The shortest period of the kernel's hrtimer: perf_swevent_start_hrtimer(). */
	CLOCK_MIN_NS = 10000,
	/* OProfile's minimum counts: the first for clock-like events, the second for all others. */
	COUNT_MIN_CYCLES = 6000,
	COUNT_MIN_OTHER = 500
};

/* Each cache has the operations that perf list shows. */
static const struct event_row event_rows[] = {
	SOFTWARE("TIMER", NULL, CPU_CLOCK, CLOCK_MIN_NS,
		 "time on the CPU, by timer interrupts (nanoseconds)"),
	SOFTWARE("cpu-clock", NULL, CPU_CLOCK, CLOCK_MIN_NS,
		 "the CPU's wall clock (nanoseconds)"),
	SOFTWARE("task-clock", NULL, TASK_CLOCK, CLOCK_MIN_NS,
		 "time that the task was on a CPU (nanoseconds)"),
	SOFTWARE("page-faults", "faults", PAGE_FAULTS, 0, "page faults"),
	SOFTWARE("minor-faults", NULL, PAGE_FAULTS_MIN, 0,
		 "page faults that needed no disk"),
	SOFTWARE("major-faults", NULL, PAGE_FAULTS_MAJ, 0,
		 "page faults that waited for the disk"),
	SOFTWARE("context-switches", "cs", CONTEXT_SWITCHES, 0,
		 "switches to another task"),
	SOFTWARE("cpu-migrations", "migrations", CPU_MIGRATIONS, 0,
		 "moves of a task to another CPU"),
	SOFTWARE("cgroup-switches", NULL, CGROUP_SWITCHES, 0,
		 "switches to a task of another cgroup"),
	SOFTWARE("alignment-faults", NULL, ALIGNMENT_FAULTS, 0,
		 "unaligned accesses that the kernel fixed"),
	SOFTWARE("emulation-faults", NULL, EMULATION_FAULTS, 0,
		 "instructions that the kernel emulated"),
	SOFTWARE("bpf-output", NULL, BPF_OUTPUT, 0, "records that a BPF program wrote"),
	SOFTWARE("dummy", NULL, DUMMY, 0,
		 "never counts: only what processes do is recorded"),

	HARDWARE("cycles", "cpu-cycles", CPU_CYCLES, COUNT_MIN_CYCLES,
		 "clock cycles while not halted"),
	HARDWARE("instructions", NULL, INSTRUCTIONS, COUNT_MIN_CYCLES,
		 "instructions retired"),
	HARDWARE("cache-references", NULL, CACHE_REFERENCES, COUNT_MIN_OTHER,
		 "accesses to the last-level cache"),
	HARDWARE("cache-misses", NULL, CACHE_MISSES, COUNT_MIN_OTHER,
		 "accesses that missed the last-level cache"),
	HARDWARE("branches", "branch-instructions", BRANCH_INSTRUCTIONS,
		 COUNT_MIN_OTHER, "branch instructions retired"),
	HARDWARE("branch-misses", NULL, BRANCH_MISSES, COUNT_MIN_OTHER,
		 "branches that were predicted wrongly"),
	HARDWARE("bus-cycles", NULL, BUS_CYCLES, COUNT_MIN_OTHER, "cycles of the bus"),
	HARDWARE("stalled-cycles-frontend", "idle-cycles-frontend",
		 STALLED_CYCLES_FRONTEND, COUNT_MIN_OTHER,
		 "cycles in which no instruction could be issued"),
	HARDWARE("stalled-cycles-backend", "idle-cycles-backend",
		 STALLED_CYCLES_BACKEND, COUNT_MIN_OTHER,
		 "cycles in which no instruction could retire"),
	HARDWARE("ref-cycles", NULL, REF_CPU_CYCLES, COUNT_MIN_CYCLES,
		 "cycles at the nominal frequency while not halted"),

	CACHE_ALL("L1-dcache", L1D, "the level 1 data cache"),
	CACHE_READS("L1-icache", L1I, "the level 1 instruction cache"),
	CACHE_PREFETCHES("L1-icache", L1I, "the level 1 instruction cache"),
	CACHE_ALL("LLC", LL, "the last-level cache"),
	CACHE_ALL("dTLB", DTLB, "the data TLB"),
	CACHE_READS("iTLB", ITLB, "the instruction TLB"),
	CACHE_READS("branch", BPU, "the branch predictor"),
	CACHE_ALL("node", NODE, "local memory"),
};

enum {
	NR_EVENT_ROWS = COUNT_OF(event_rows)
};

const struct event_row *event_row_at(size_t i)
{
	return i < NR_EVENT_ROWS ? &event_rows[i] : NULL;
}

static bool row_matches(const struct event_row *row, const char *name)
{
	if (row->type == PERF_TYPE_HW_CACHE)
		return !strcasecmp(row->name, name);
	return !strcmp(row->name, name) || (row->alias && !strcmp(row->alias, name));
}

const struct event_row *event_row_find(const char *name)
{
	for (size_t i = 0; i < NR_EVENT_ROWS; i++) {
		if (row_matches(&event_rows[i], name))
			return &event_rows[i];
	}
	return NULL;
}

bool events_row(size_t i, const char **ret_name, const char **ret_about)
{
	const struct event_row *row = event_row_at(i);

	if (!row)
		return false;
	*ret_name = row->name;
	*ret_about = row->about;
	return true;
}

const char *events_about(const char *name)
{
	const char *slash = strchr(name, '/');
	const char *from = slash && slash[1] ? slash + 1 : name;
	char word[EVENT_NAME_MAX];
	const struct event_row *row;

	(void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(from, ":/"), from);
	row = event_row_find(word);
	return row ? row->about : NULL;
}
