/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_filter.h - builds a seccomp filter from a list of system calls.
 * Layer: record.  Calls that are not in the list get the default action; a call of another
 * architecture kills the process. */
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

/* A rule that allows a call if the lower 32 bits of one argument, masked with `mask`, are one of
 * `values`. Use it for arguments whose upper half the kernel ignores. */
struct call_rule {
	uint32_t nr;
	unsigned int argument; /* number of the argument, from 0 */
	uint32_t mask;
	const uint32_t *values;
	size_t nr_values;
};

/* Returns whether filters for this architecture can be built. */
bool call_filter_is_known(void);
void call_filter_begin(struct call_filter *f, uint32_t refusal);
void call_filter_allow(struct call_filter *f, const uint32_t *calls, size_t nr_calls);
/* Adds `rules`. A call with a rule is refused if its argument has any other value. */
void call_filter_allow_rules(struct call_filter *f, const struct call_rule *rules,
			     size_t nr_rules);
/* Allows `nr` if all `bits` are set in the lower half of an argument whose upper half is 0. */
void call_filter_allow_bits(struct call_filter *f, uint32_t nr, unsigned int argument,
			    uint32_t bits);
/* Sets the action for call `nr`, instead of the default action. */
void call_filter_answer(struct call_filter *f, uint32_t nr, uint32_t action);
/* Sets the action for all calls with a number above `nr` for which there is no earlier rule. */
void call_filter_answer_above(struct call_filter *f, uint32_t nr, uint32_t action);
/* Ends the list and installs the filter for the calling thread, or for all threads of the
 * process. Sets no_new_privs.  Returns 0, -EOPNOTSUPP (architecture not supported) or a negative
 * errno of seccomp(2) or prctl(2): -EINVAL or -ENOSYS if the kernel has no filters. */
int call_filter_install(struct call_filter *f, bool all_threads);
