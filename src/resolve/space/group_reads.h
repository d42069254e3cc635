/* SPDX-License-Identifier: GPL-2.0-or-later */
/* group_reads.h - samples that contain the counter values of their event, or of all events in
 * its group (perf record -e '{a,b}:S'): computes the counts since the previous sample, like
 * perf.
 * Layer: resolve. Source: deliver_sample_group() in Linux, tools/perf/util/session.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/deltas.h"
#include "base/containers/vec.h"
#include "decode/record.h"

/* The count of an event. */
struct group_share {
	uint64_t period;
	uint64_t id;
	uint32_t event; /* index of its attr */
};

struct group_shares {
	VEC(struct group_share) list;
};

enum {
	GROUP_SHARES_MAX = 512 /* per sample; further ones are ignored */
};

/* Returns whether samples of that attr contain counter values. */
bool group_reads_has(const struct perf_event_attr *a);
/* Returns whether the attr's event is read with another event's samples. */
bool group_reads_is_member(const struct perf_event_attr *a);
/* Sets *ret_shares to the events that counted since the previous sample, with their counts.
 * Samples with the same id must be in the order of time. Returns 0; 1 if counts are missing,
 * because the id of a nonzero value, or the ids of all values, belong to no known event; or
 * -ENOMEM. */
int group_reads_take(struct deltas *d, const struct decoder *decoder,
		     const struct record *rec, struct group_shares *ret_shares);
