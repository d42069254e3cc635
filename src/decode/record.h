/* record.h - one raw perf record, decoded.  Fields are borrowed from the raw bytes.
 * Layer: decode.  Source of the layouts: perf_event_open(2), <linux/perf_event.h>. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/map.h"
#include "base/vec.h"

struct err;

/* Every record's view of who, when and where: from the sample itself, or from the
 * sample_id trailer of the others.  -1 / 0 where the attr does not have the field. */
struct record_id {
	int32_t pid;
	int32_t tid;
	uint64_t time_ns;
	uint64_t id;    /* PERF_SAMPLE_ID / IDENTIFIER */
	uint32_t event; /* index of the attr, from the id */
	uint32_t cpu;
	bool has_time;
};

struct record_sample {
	struct rt_addr ip;
	uint64_t addr;
	uint64_t period;
	uint64_t cgroup;
	uint64_t nr_chain;
	const uint8_t
		*chain; /* nr_chain u64 in the data's byte order, may be unaligned */
};

struct record_mmap { /* MMAP and MMAP2 */
	int32_t pid;
	int32_t tid;
	uint64_t start;
	uint64_t len;
	uint64_t pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_gen;
	uint32_t prot; /* PROT_EXEC assumed for MMAP without MISC_MMAP_DATA */
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
	uint64_t lost;
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

struct record {
	uint32_t type; /* PERF_RECORD_* */
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
	};
};

/* Where a sample of one attr has the fields before its first one of variable size (READ and
 * what follows): offsets from the record's start, 0 for a field that it does not have. */
struct sample_layout {
	uint16_t id;
	uint16_t ip;
	uint16_t tid;
	uint16_t time;
	uint16_t addr;
	uint16_t cpu;
	uint16_t period;
	uint16_t bytes; /* where the first field of variable size begins */
	bool more;      /* there are such fields */
};

/* The events of a stream: their attrs, and which id belongs to which. */
struct decoder {
	VEC(struct perf_event_attr) attrs;
	VEC(struct sample_layout) layouts; /* one an attr */
	struct map by_id;                  /* (id, 0) -> attr index */
	/* The same for ids near the first one, as the kernel numbers them in a row. */
	VEC(uint32_t) by_near_id;
	uint64_t first_id;
	bool swap; /* the data has the other byte order */
};

void decoder_init(struct decoder *d, bool swap);
/* 0 or -ENOMEM; the attr is copied, its index is the count before. */
int decoder_add_attr(struct decoder *d, const struct perf_event_attr *attr);
int decoder_add_id(struct decoder *d, uint64_t id, uint32_t attr_index);
void decoder_done(struct decoder *d);
/* Decodes the record at `bytes` (its header included, in the data's byte order; `len` is
 * what is left of the data).  Kinds without a struct above get type, misc and id only.
 * 0, or -EBADMSG if it is malformed or cut. */
int decoder_record(const struct decoder *d, const void *bytes, size_t len,
		   struct record *ret_record, struct err *err);
/* The i-th address of a sample's chain. */
uint64_t decoder_chain_at(const struct decoder *d, const struct record_sample *s,
			  uint64_t i);
