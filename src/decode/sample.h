/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample.h - the fields of a PERF_RECORD_SAMPLE.  Arrays are borrowed from the raw bytes, in
 * the data's byte order and possibly unaligned; read them with the functions below.
 * Layer: decode.  Source of the layouts: perf_event_open(2), <linux/perf_event.h>. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

struct decoder;

/* Bits of kernels newer than our headers. */
enum {
	SAMPLE_BRANCH_COUNTERS = 1 << 19 /* attr.branch_sample_type */
};

struct record_bytes {
	const uint8_t *at;
	uint64_t len;
};

struct read_value {
	uint64_t value;
	uint64_t id;   /* PERF_FORMAT_ID, else 0 */
	uint64_t lost; /* PERF_FORMAT_LOST, else 0 */
};

/* struct read_format: a single value, or those of a group. */
struct record_read {
	uint64_t enabled_ns; /* PERF_FORMAT_TOTAL_TIME_ENABLED, else 0 */
	uint64_t running_ns;
	uint64_t nr;
	struct read_value one; /* the only value, or the first of the group */
	const uint8_t *group;  /* NULL: `one` is the only value */
	uint32_t format;       /* PERF_FORMAT_* */
};

struct record_regs {
	uint64_t abi;  /* PERF_SAMPLE_REGS_ABI_* */
	uint64_t mask; /* the registers present, from the attr; 0 with ABI_NONE */
	const uint8_t *values;
};

/* One entry of a branch stack, newest first. */
struct branch {
	uint64_t from, to;
	bool mispredicted, predicted, in_tx, aborted;
	uint16_t cycles;
	uint8_t type;     /* PERF_BR_* */
	uint8_t spec;     /* PERF_BR_SPEC_* */
	uint8_t new_type; /* PERF_BR_NEW_*, with type PERF_BR_EXTEND_ABI */
	uint8_t priv;     /* PERF_BR_PRIV_* */
};

struct record_sample {
	struct rt_addr ip;
	uint64_t addr;
	uint64_t period;
	uint64_t cgroup;
	uint64_t nr_chain;
	const uint8_t *chain; /* nr_chain u64, including markers */
	/* PERF_SAMPLE_* bits of the fields after this one that are present. All others are
	 * uninitialized, so that simple samples do not have to clear them. */
	uint64_t has;
	struct record_read read;
	struct record_bytes raw;
	uint64_t nr_branches;
	uint64_t branch_hw_index;       /* ~0 without PERF_SAMPLE_BRANCH_HW_INDEX */
	const uint8_t *branches;        /* nr_branches of three u64 */
	const uint8_t *branch_counters; /* nr_branches u64, or NULL */
	struct record_regs user_regs;
	struct record_bytes
		user_stack; /* the copied bytes, without the unused rest of the
                                        * buffer */
	uint64_t weight;    /* set by both kinds of weight */
	uint16_t ins_lat, p_stage_cyc; /* WEIGHT_STRUCT only, else 0 */
	uint64_t data_src;             /* union perf_mem_data_src */
	uint64_t transaction;
	struct record_regs intr_regs;
	uint64_t phys_addr;
	uint64_t data_page_size, code_page_size;
	struct record_bytes aux;
};

/* Words of a chain that are not addresses but mark the cpu mode of the following addresses. */
enum chain_mark {
	CHAIN_ADDRESS, /* not a mark */
	CHAIN_HYPERVISOR,
	CHAIN_KERNEL,
	CHAIN_USER,
	CHAIN_USER_DEFERRED, /* the next word is the cookie of a CALLCHAIN_DEFERRED */
	CHAIN_GUEST,
	CHAIN_GUEST_KERNEL,
	CHAIN_GUEST_USER,
	CHAIN_UNKNOWN_MARK
};

static inline enum chain_mark chain_mark_of(uint64_t word)
{
	if (__builtin_expect(word < PERF_CONTEXT_MAX, 1))
		return CHAIN_ADDRESS;
	switch ((int64_t)word) {
	case -32:
		return CHAIN_HYPERVISOR;
	case -128:
		return CHAIN_KERNEL;
	case -512:
		return CHAIN_USER;
	case -640:
		return CHAIN_USER_DEFERRED;
	case -2048:
		return CHAIN_GUEST;
	case -2176:
		return CHAIN_GUEST_KERNEL;
	case -2560:
		return CHAIN_GUEST_USER;
	default:
		return CHAIN_UNKNOWN_MARK;
	}
}

/* Returns the i-th word of an array of u64 or u32 in a record of this decoder, such as a chain,
 * registers or a CPU mask. */
uint64_t decoder_u64_at(const struct decoder *d, const uint8_t *array, uint64_t i);
uint32_t decoder_u32_at(const struct decoder *d, const uint8_t *array, uint64_t i);
/* Returns the i-th word of a sample's chain; see chain_mark_of(). */
uint64_t decoder_chain_at(const struct decoder *d, const struct record_sample *s,
			  uint64_t i);
struct branch decoder_branch_at(const struct decoder *d, const struct record_sample *s,
				uint64_t i);
/* Returns perf's name, such as "COND" or "CALL", or "" for an unknown type. */
const char *branch_type_name(const struct branch *b);
struct read_value decoder_read_at(const struct decoder *d, const struct record_read *r,
				  uint64_t i);
