/* SPDX-License-Identifier: GPL-2.0-or-later */
/* group_reads.h - samples that tell what their event, or each event of its group, has counted so
 * far (perf record -e '{a,b}:S'): what each has counted since the last one, as perf credits it.
 * Layer: resolve.  Source: deliver_sample_group() in Linux, tools/perf/util/session.c. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/deltas.h"
#include "base/containers/vec.h"
#include "decode/record.h"

/* What one event has counted. */
struct group_share {
	uint64_t period;
	uint64_t id;
	uint32_t event; /* its attr */
};

struct group_shares {
	VEC(struct group_share) list;
};

enum {
	GROUP_SHARES_MAX = 512 /* of a sample; what is behind them is passed by */
};

/* Whether samples of that attr are credited so. */
bool group_reads_has(const struct perf_event_attr *a);
/* Whether the attr is of an event that is read with another's samples. */
bool group_reads_is_member(const struct perf_event_attr *a);
/* What the sample tells, events without a gain left out.  Samples of an id are to come in order of
 * time.  0, 1 (no event has one of its ids) or -ENOMEM. */
int group_reads_take(struct deltas *d, const struct decoder *decoder,
		     const struct record *rec, struct group_shares *ret_shares);
