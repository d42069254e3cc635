/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_made.h - decodes the records that perf itself writes between those of the kernel.
 * Layer: decode.  Source of the layouts: tools/lib/perf/include/perf/event.h. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65,
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86
};

/* Entries {id, idx, cpu, tid}, optionally followed by as many entries {machine_pid, vcpu}. */
struct record_id_index {
	uint64_t nr;
	const uint8_t *rows;   /* nr times four u64 */
	const uint8_t *guests; /* nr times two u64, or NULL */
};

struct record_auxtrace_info {
	uint32_t
		kind; /* enum auxtrace_type: 1 Intel PT, 2 BTS, 3 CoreSight, 4 SPE ... */
	uint64_t nr_words;
	const uint8_t *words; /* u64; their meaning depends on the kind */
};

struct record_auxtrace {
	uint64_t size; /* bytes of the payload after the record */
	uint64_t offset;
	uint64_t reference;
	uint32_t idx;
	int32_t tid; /* -1: the buffer of a CPU */
	int32_t cpu; /* -1: the buffer of a thread */
};

struct record_auxtrace_error {
	uint32_t kind;
	uint32_t code;
	int32_t cpu, pid, tid;
	uint64_t ip;
	uint64_t time_ns; /* 0: unknown */
	char message[64];
};

struct record_thread_map {
	uint64_t nr;
	const uint8_t *rows; /* nr times {u64 pid, char comm[16]} */
};

enum cpu_map_kind {
	CPU_MAP_LIST,
	CPU_MAP_MASK,
	CPU_MAP_RANGE
};

struct record_cpu_map {
	uint16_t kind;      /* enum cpu_map_kind, or an unknown kind */
	uint16_t nr;        /* CPUs in a list, or words of a mask */
	uint16_t long_size; /* bytes of a mask's word: 4 or 8 */
	bool any_cpu;       /* for a range */
	uint16_t first, last;
	/* u16 CPUs of a list (0xffff: any CPU), or the words of a mask */
	const uint8_t *values;
};

struct record_stat_config {
	uint64_t nr;
	const uint8_t *rows; /* nr times {u64 tag, u64 value} */
};

struct record_stat {
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t value, enabled_ns, running_ns;
};

struct record_stat_round {
	uint64_t kind; /* 0 interval, 1 final */
	uint64_t time_ns;
};

struct record_event_update {
	uint64_t kind; /* 0 unit, 1 scale, 2 name, 3 CPUs */
	uint64_t id;
	const uint8_t *data;
	uint64_t len;
};

/* Conversion from TSC to perf's clock, see struct perf_event_mmap_page. */
struct record_time_conv {
	uint64_t time_shift, time_mult, time_zero;
	uint64_t time_cycles, time_mask; /* 0 in old files */
	bool has_time_zero, has_time_short;
};

struct record_header_feature {
	uint64_t feature;
	const uint8_t *data;
	uint64_t len;
};

struct record_tracing_data {
	uint32_t size; /* bytes of the payload after the record */
};

struct record_bpf_metadata {
	const char *prog;
};

struct record_schedstat { /* for both RECORD_SCHEDSTAT types */
	uint64_t time;
	uint32_t cpu;
	uint16_t version;
	uint16_t domain;
	const uint8_t *data;
	uint64_t len;
};
