/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_filter.h - a seccomp filter from a list of system calls.
 * Layer: record.  A call that the list lacks gets the filter's refusal; one of another architecture ends
 * the process. */
#pragma once
#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CALL_FILTER_MAX = 1024 /* instructions */
};

struct call_filter {
	uint32_t refusal; /* SECCOMP_RET_... */
	unsigned short nr;
	struct sock_filter at[CALL_FILTER_MAX];
};

/* A call that is allowed when the lower half of an argument, after `mask`, is one of `values`: the kernel
 * reads no more of these arguments. */
struct call_rule {
	uint32_t nr;
	unsigned int argument; /* from 0 */
	uint32_t mask;
	const uint32_t *values;
	size_t nr_values;
};

/* Whether filters for this architecture can be built. */
bool call_filter_is_known(void);
void call_filter_begin(struct call_filter *f, uint32_t refusal);
void call_filter_allow(struct call_filter *f, const uint32_t *calls, size_t nr_calls);
/* The last word on these calls: others of their arguments are refused. */
void call_filter_allow_rules(struct call_filter *f, const struct call_rule *rules,
			     size_t nr_rules);
/* Allows `nr` when `bits` are set in the lower half of an argument whose upper half is 0. */
void call_filter_allow_bits(struct call_filter *f, uint32_t nr, unsigned int argument,
			    uint32_t bits);
/* Gives `nr` the result `action` instead of the refusal. */
void call_filter_answer(struct call_filter *f, uint32_t nr, uint32_t action);
/* Likewise for all calls with a number above `nr` that no earlier rule has. */
void call_filter_answer_above(struct call_filter *f, uint32_t nr, uint32_t action);
/* Ends the list and applies it: to the calling thread, or to all threads of the process.  Sets
 * no_new_privs.  0, -EOPNOTSUPP (no filters for this architecture) or a negative errno of seccomp(2) or
 * prctl(2): -EINVAL or -ENOSYS where the kernel has none. */
int call_filter_install(struct call_filter *f, bool all_threads);
