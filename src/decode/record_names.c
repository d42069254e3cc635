/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "decode/record_names.h"

#include <stddef.h>

#include "base/array.h"
#include "decode/record.h"

#define KNOWN(name) [PERF_RECORD_##name] = #name
#define MADE(name) [RECORD_##name] = #name

/* <linux/perf_event.h> and tools/lib/perf/include/perf/event.h */
static const char *const names[] = {
	KNOWN(MMAP),
	KNOWN(LOST),
	KNOWN(COMM),
	KNOWN(EXIT),
	KNOWN(THROTTLE),
	KNOWN(UNTHROTTLE),
	KNOWN(FORK),
	KNOWN(READ),
	KNOWN(SAMPLE),
	KNOWN(MMAP2),
	KNOWN(AUX),
	KNOWN(ITRACE_START),
	KNOWN(LOST_SAMPLES),
	KNOWN(SWITCH),
	KNOWN(SWITCH_CPU_WIDE),
	KNOWN(NAMESPACES),
	KNOWN(KSYMBOL),
	KNOWN(BPF_EVENT),
	KNOWN(CGROUP),
	KNOWN(TEXT_POKE),
	KNOWN(AUX_OUTPUT_HW_ID),
	MADE(CALLCHAIN_DEFERRED),
	[RECORD_HEADER_ATTR] = "ATTR",
	[RECORD_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	[RECORD_HEADER_TRACING_DATA] = "TRACING_DATA",
	[RECORD_HEADER_BUILD_ID] = "BUILD_ID",
	MADE(FINISHED_ROUND),
	MADE(ID_INDEX),
	MADE(AUXTRACE_INFO),
	MADE(AUXTRACE),
	MADE(AUXTRACE_ERROR),
	MADE(THREAD_MAP),
	MADE(CPU_MAP),
	MADE(STAT_CONFIG),
	MADE(STAT),
	MADE(STAT_ROUND),
	MADE(EVENT_UPDATE),
	MADE(TIME_CONV),
	[RECORD_HEADER_FEATURE] = "FEATURE",
	MADE(COMPRESSED),
	MADE(FINISHED_INIT),
	MADE(COMPRESSED2),
	MADE(BPF_METADATA),
	MADE(SCHEDSTAT_CPU),
	MADE(SCHEDSTAT_DOMAIN),
};

enum {
	SIMPLEPERF_FIRST = 32768
};

/* system/extras/simpleperf/record.h */
static const char *const simpleperf_names[] = {
	"KERNEL_SYMBOL", "DSO",       "SYMBOL",           "SPLIT",        "SPLIT_END",
	"EVENT_ID",      "CALLCHAIN", "UNWINDING_RESULT", "TRACING_DATA",
};

const char *record_name(uint32_t type)
{
	if (type >= SIMPLEPERF_FIRST) {
		type -= SIMPLEPERF_FIRST;
		return type < COUNT_OF(simpleperf_names) ? simpleperf_names[type]
							 : NULL;
	}
	return type < COUNT_OF(names) ? names[type] : NULL;
}
