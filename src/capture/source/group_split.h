/* SPDX-License-Identifier: GPL-2.0-or-later */
/* group_split.h - splits the samples of an event group. The kernel samples only the group's first
 * event; such a sample contains the counts of all events of the group so far. This module replaces
 * it by several samples: one for each event of the group that has counted anything since the
 * previous sample. Layer: capture. Source of the layout: perf_event_open(2), PERF_SAMPLE_READ. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/deltas.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"

struct group_split {
	/* Id of an event -> index of its read format in `formats`. */
	struct map leaders;
	VEC(uint64_t) formats;
	struct deltas counted; /* the last value of each event id and thread */
	struct buf record;
};

/* Changes the attr of a group's first event so that its samples contain the group's counts. */
void group_split_lead(struct perf_event_attr *a);
/* Changes the attr of another event of the group, which takes no samples itself. */
void group_split_follow(struct perf_event_attr *a);
/* Changes the attr of any event of the group so that it describes the samples after the split. */
void group_split_reported(struct perf_event_attr *a);

/* Registers an id of a group's first event, which was opened with the attr `a`. Returns 0 or
 * -ENOMEM. */
int group_split_add(struct group_split *g, uint64_t id,
		    const struct perf_event_attr *a);
void group_split_done(struct group_split *g);

typedef int (*group_split_fn)(void *ctx, const void *record, size_t len);
/* Passes the record to `fn` or, if it is a sample of a group, passes the samples after the split.
 * Each has the id of its event. Its period is the count since the previous sample of this
 * descriptor (or, if the event is inherited, of this thread). Call it with records in the order in
 * which the kernel wrote them. Returns 0, -ENOMEM, or the result of `fn`. */
int group_split_record(struct group_split *g, const void *record, size_t len,
		       group_split_fn fn, void *ctx);
