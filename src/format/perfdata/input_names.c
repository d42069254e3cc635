/* SPDX-License-Identifier: GPL-2.0-or-later */
/* input_names.c - names the events that have no name in the file, in the same way as perf. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/perfdata/input_priv.h"

/* The names that perf uses: tools/perf/util/evsel.c. */
enum {
	NAME_MAX_BYTES = 128
};

static const char *const hardware[] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branches",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static const char *const software[] = {
	[PERF_COUNT_SW_CPU_CLOCK] = "cpu-clock",
	[PERF_COUNT_SW_TASK_CLOCK] = "task-clock",
	[PERF_COUNT_SW_PAGE_FAULTS] = "page-faults",
	[PERF_COUNT_SW_CONTEXT_SWITCHES] = "context-switches",
	[PERF_COUNT_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PERF_COUNT_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PERF_COUNT_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PERF_COUNT_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PERF_COUNT_SW_EMULATION_FAULTS] = "emulation-faults",
	[PERF_COUNT_SW_DUMMY] = "dummy",
	[PERF_COUNT_SW_BPF_OUTPUT] = "bpf-output",
	[PERF_COUNT_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",      "branch",    "node" };
/* Operations on caches. Names of misses use `one` ("load-misses"), names of all accesses use
 * `many` ("loads"). */
static const struct {
	const char *one, *many;
} cache_ops[] = {
	{ "load", "loads" },
	{ "store", "stores" },
	{ "prefetch", "prefetches" },
};

static void put_cache_name(char *out, size_t size, uint64_t config)
{
	uint64_t type = config & 0xff;
	uint64_t op = config >> 8 & 0xff;
	uint64_t result = config >> 16 & 0xff;

	if (type >= COUNT_OF(caches))
		snprintf(out, size, "unknown-ext-hardware-cache-type");
	else if (op >= COUNT_OF(cache_ops))
		snprintf(out, size, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		snprintf(out, size, "unknown-ext-hardware-cache-result");
	else if (result)
		snprintf(out, size, "%s-%s-misses", caches[type], cache_ops[op].one);
	else
		snprintf(out, size, "%s-%s", caches[type], cache_ops[op].many);
}

static void put_breakpoint(char *out, size_t size, const struct perf_event_attr *attr)
{
	snprintf(out, size, "mem:0x%" PRIx64 ":%s%s%s", (uint64_t)attr->bp_addr,
		 attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
		 attr->bp_type & 4 ? "x" : "");
}

/* Writes the event's name without modifiers. Returns whether modifiers can follow it. */
static bool put_base_name(char *out, size_t size, const struct perf_event_attr *attr)
{
	/* on hybrid CPUs, the upper half is the PMU */
	uint64_t id = attr->config & 0xffffffff;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		snprintf(out, size, "%s",
			 id < COUNT_OF(hardware) ? hardware[id] : "unknown-hardware");
		return true;
	case PERF_TYPE_SOFTWARE:
		snprintf(out, size, "%s",
			 attr->config < COUNT_OF(software) ? software[attr->config]
							   : "unknown-software");
		return true;
	case PERF_TYPE_HW_CACHE:
		put_cache_name(out, size, attr->config);
		return true;
	case PERF_TYPE_RAW:
		snprintf(out, size, "raw 0x%" PRIx64, (uint64_t)attr->config);
		return true;
	case PERF_TYPE_BREAKPOINT:
		put_breakpoint(out, size, attr);
		return true;
	case PERF_TYPE_TRACEPOINT:
		snprintf(out, size, "unknown tracepoint");
		return false;
	default:
		snprintf(out, size, "unknown attr type: %" PRIu32, attr->type);
		return false;
	}
}

/* Appends modifiers such as ":u", like perf's evsel__add_modifiers(). */
static void put_modifiers(char *out, const struct perf_event_attr *a)
{
	char *first = out;
	bool narrowed = a->exclude_kernel || a->exclude_user || a->exclude_hv;

	*out++ = ':';
	if (narrowed && !a->exclude_kernel)
		*out++ = 'k';
	if (narrowed && !a->exclude_user)
		*out++ = 'u';
	if (narrowed && !a->exclude_hv)
		*out++ = 'h';
	for (unsigned int i = 0; i < a->precise_ip; i++)
		*out++ = 'p';
	if (a->exclude_host || a->exclude_guest == (narrowed || a->precise_ip)) {
		if (!a->exclude_host)
			*out++ = 'H';
		if (!a->exclude_guest)
			*out++ = 'G';
	}
	if (out == first + 1)
		out--;
	*out = '\0';
}

char *perf_event_name_make(const struct perf_event_attr *attr)
{
	char name[NAME_MAX_BYTES];
	enum {
		MODIFIERS_MAX = 16
	};

	if (put_base_name(name, sizeof(name) - MODIFIERS_MAX, attr))
		put_modifiers(name + strlen(name), attr);
	return strdup(name);
}

int perf_events_name(struct perf_input *in)
{
	for (size_t i = 0; i < in->info.events.nr; i++) {
		struct perf_input_event *event = &in->info.events.at[i];

		if (!event->name && i < in->desc_names.nr) {
			event->name = in->desc_names.at[i];
			in->desc_names.at[i] = NULL;
		}
		if (!event->name && perf_tracepoint_name(in, &event->attr))
			event->name = strdup(perf_tracepoint_name(in, &event->attr));
		else if (!event->name)
			event->name = perf_event_name_make(&event->attr);
		if (!event->name)
			return -ENOMEM;
	}
	return 0;
}
