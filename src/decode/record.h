/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record.h - decodes one raw perf record. Fields are borrowed from the raw bytes.
 * Layer: decode.  Source of the layouts: perf_event_open(2), <linux/perf_event.h>. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "decode/perf_made.h"
#include "decode/sample.h"

struct err;

/* The process, time and CPU of every record: from the sample itself, or from the sample_id
 * fields of other records. -1 or 0 if the attr lacks the field. */
struct record_id {
	int32_t pid;
	int32_t tid;
	uint64_t time_ns;
	uint64_t id; /* PERF_SAMPLE_ID / IDENTIFIER */
	uint64_t stream_id;
	uint32_t event; /* index of the attr to which the id belongs */
	uint32_t cpu;
	bool has_time;
	/* the id is unknown, so the first attr was used; perf drops such samples */
	bool stray;
};

struct record_mmap { /* MMAP and MMAP2 */
	int32_t pid;
	int32_t tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_gen;
	uint32_t prot;  /* PROT_EXEC is assumed for MMAP without MISC_MMAP_DATA */
	uint32_t flags; /* MMAP2: MAP_* */
	uint8_t build_id_len;
	uint8_t build_id[20];
	const char *path;
};

struct record_comm {
	int32_t pid;
	int32_t tid;
	bool exec;
	const char *comm;
};

struct record_task { /* FORK and EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct record_lost { /* LOST and LOST_SAMPLES */
	uint64_t id; /* of the event; only for LOST */
	uint64_t lost;
};

struct record_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time_ns, id, stream_id;
};

struct record_read_event { /* READ */
	int32_t pid, tid;
	struct record_read values;
};

struct record_aux {
	uint64_t offset, size;
	uint64_t flags; /* PERF_AUX_FLAG_* */
};

struct record_itrace_start {
	int32_t pid, tid;
};

/* SWITCH and SWITCH_CPU_WIDE. The running task is in the record's id. */
struct record_switch {
	bool out;
	bool preempted; /* switched out although it could have continued */
	int32_t other_pid, other_tid; /* next or previous task; -1: unknown */
};

struct record_bpf_event {
	uint16_t kind; /* PERF_BPF_EVENT_* */
	uint16_t flags;
	uint32_t prog_id;
	uint8_t tag[8];
};

struct record_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *bytes; /* the old bytes, followed by the new ones */
};

struct record_aux_output_hw_id {
	uint64_t hw_id;
};

/* The user callers of earlier samples: of those whose call chains end with this cookie. */
struct record_callchain_deferred {
	uint64_t cookie;
	uint64_t nr;
	const uint8_t *chain; /* as in a sample: decoder_u64_at() */
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	bool unregister;
	const char *name;
};

struct record_cgroup {
	uint64_t id;
	const char *path;
};

struct record_namespaces {
	int32_t pid, tid;
	uint64_t nr;
	const uint8_t *links; /* nr pairs {dev u64, inode u64} */
};

/* Records of kernels newer than our headers. */
enum {
	RECORD_CALLCHAIN_DEFERRED = 22
};

struct record {
	uint32_t type; /* PERF_RECORD_*, or RECORD_* for records that perf writes */
	uint16_t misc;
	struct record_id id;
	union {
		struct record_sample sample;
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_ksymbol ksymbol;
		struct record_cgroup cgroup;
		struct record_namespaces namespaces;
		struct record_throttle throttle;
		struct record_read_event read;
		struct record_aux aux;
		struct record_itrace_start itrace_start;
		struct record_switch sched_switch;
		struct record_bpf_event bpf_event;
		struct record_text_poke text_poke;
		struct record_aux_output_hw_id aux_output_hw_id;
		struct record_callchain_deferred deferred;
		struct record_id_index id_index;
		struct record_auxtrace_info auxtrace_info;
		struct record_auxtrace auxtrace;
		struct record_auxtrace_error auxtrace_error;
		struct record_thread_map thread_map;
		struct record_cpu_map cpu_map;
		struct record_stat_config stat_config;
		struct record_stat stat;
		struct record_stat_round stat_round;
		struct record_event_update event_update;
		struct record_time_conv time_conv;
		struct record_header_feature header_feature;
		struct record_tracing_data tracing_data;
		struct record_bpf_metadata bpf_metadata;
		struct record_schedstat schedstat;
	};
};

/* Returns whether a LOST_SAMPLES record counts samples that the filter of `perf record --filter`
 * dropped: PERF_RECORD_MISC_LOST_SAMPLES_BPF of tools/lib/perf/include/perf/event.h. */
static inline bool record_is_filtered(const struct record *rec)
{
	return rec->type == PERF_RECORD_LOST_SAMPLES && rec->misc >> 15;
}

/* Offsets of fields from the start of a sample, for samples of one attr; 0: the field is missing.
 * Only for fields before the first one of variable size (READ, or a later one). */
struct sample_layout {
	uint16_t id;
	uint16_t ip;
	uint16_t tid;
	uint16_t time;
	uint16_t addr;
	uint16_t stream;
	uint16_t cpu;
	uint16_t period;
	uint64_t default_period; /* used if samples do not contain the period, else 0 */
	uint16_t bytes;          /* offset of the first field of variable size */
	uint64_t more;           /* PERF_SAMPLE_* bits of those fields */
	bool off_cpu; /* the sample proper is in RAW: see decoder_set_off_cpu() */
};

/* The name of the event for decoder_set_off_cpu(). */
#define OFF_CPU_EVENT "offcpu-time"

/* The events of a stream: their attrs, and the mapping from ids to attrs. */
struct decoder {
	VEC(struct perf_event_attr) attrs;
	VEC(struct sample_layout) layouts; /* one per attr */
	struct map by_id;                  /* (id, 0) -> attr index */
	/* Attr indices by id minus first_id: the kernel assigns consecutive ids. */
	VEC(uint32_t) by_near_id;
	uint64_t first_id;
	/* The position of the id in all attrs, taken from the first attr (perf_event_open(2)):
	 * bytes from the start of a sample and from the end of other records. 0: there is no
	 * id. */
	uint16_t id_in_sample;
	uint16_t id_from_end;
	/* Bytes of the fields at the end of records other than samples (sample_id_all), if all
	 * attrs have the same; 0: no such fields, or they differ. */
	uint16_t trailer_bytes;
	bool build_ids; /* an attr requests build-ids in MMAP2 records */
	bool swap;      /* the data has the opposite byte order */
};

void decoder_init(struct decoder *d, bool swap);
/* Adds an attr, which is copied. Attrs are numbered from 0 in the order of the calls. Returns 0 or
 * -ENOMEM. */
int decoder_add_attr(struct decoder *d, const struct perf_event_attr *attr);
/* Marks the attr that was added last as perf's event "offcpu-time" (perf record --off-cpu, since
 * Linux 6.15): a BPF program wrote thread, time off the CPU, user chain and cgroup to RAW, and the
 * other fields are those of the next thread. Does nothing if it is not the attr of a BPF program's
 * output. */
void decoder_set_off_cpu(struct decoder *d);
/* Assigns the event id to the attr with this number. Returns 0 or -ENOMEM. */
int decoder_add_id(struct decoder *d, uint64_t id, uint32_t attr_index);
void decoder_done(struct decoder *d);
/* Decodes the record at `bytes`, which include its header, in the data's byte order; `len` is
 * the rest of the data. For record types without a struct above and for unknown types, sets
 * only type, misc and (for kernel types) id. Finds the attr in the same way as perf: by the id
 * if the first attr has ids; otherwise, and for id 0, uses the first attr. Returns 0, or
 * -EBADMSG if the record is malformed or truncated. */
int decoder_record(const struct decoder *d, const void *bytes, size_t len,
		   struct record *ret_record, struct err *err);
/* Like decoder_record(), for a record that is known to be a SAMPLE of `size` bytes, at least the
 * size of its header. */
int decoder_sample(const struct decoder *d, const void *bytes, size_t size,
		   struct record *ret_record, struct err *err);
/* Like decoder_sample(), but decodes only type, misc, id, ip, addr and period. Ignores all later
 * fields without checking them; sets nr_chain, cgroup and `has` to 0. Samples of "offcpu-time" are
 * decoded as a whole. */
int decoder_sample_fixed(const struct decoder *d, const void *bytes, size_t size,
			 struct record *ret_record, struct err *err);
/* Returns the real size of a record. That is less than the size in its header if several recordings
 * receive the record and the kernel counted the last fields several times (docs/perf-report.md).
 * Returns 0 if the record is malformed. */
size_t decoder_own_bytes(const struct decoder *d, const void *bytes, size_t len);
