/* SPDX-License-Identifier: GPL-2.0-or-later */
/* allowance.h - limits how much CPU time of this process its clients may use: a burst first, then
 * a fraction of the time that passes. Layer: record. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The limits of an allowance. */
struct allowance_rule {
	uint32_t at_once_ns;
	uint32_t owed_max_ns; /* debt above this is forgiven */
	uint32_t part;        /* one nanosecond is earned per `part` nanoseconds */
};

struct allowance {
	const struct allowance_rule *rule;
	int64_t left_ns; /* below 0: debt */
	uint64_t at_ns;
};

/* Starts with a full allowance at `now_ns`.  `rule` must outlive it. */
void allowance_begin(struct allowance *a, const struct allowance_rule *rule,
		     uint64_t now_ns);
/* Spends `spent_ns` of CPU time.  Returns how long the client has to wait from `now_ns` on, at
 * most `owed_max_ns` times `part`; 0 if some allowance is left. */
uint64_t allowance_spend(struct allowance *a, uint64_t now_ns, uint64_t spent_ns);
/* Returns whether the allowance is full, like a new one. */
bool allowance_is_full(struct allowance *a, uint64_t now_ns);
