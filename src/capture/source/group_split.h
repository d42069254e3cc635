/* group_split.h - the samples of a group's first event tell what each event of the group has
 * counted so far; here they become one sample of each that has counted something since the last
 * one.  Layer: capture.  Source of the layout: perf_event_open(2), PERF_SAMPLE_READ. */
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
	struct map leaders; /* by id */
	VEC(uint64_t) formats;
	struct deltas counted; /* by id and thread */
	struct buf record;
};

/* Makes the attr of a group's first event one whose samples read the group. */
void group_split_lead(struct perf_event_attr *a);
/* The same of the others, which have no samples of their own. */
void group_split_follow(struct perf_event_attr *a);
/* What the attr of either is like for who sees the samples that are made here. */
void group_split_told(struct perf_event_attr *a);

/* `id` is one of a first event, opened as `a`.  0 or -ENOMEM. */
int group_split_add(struct group_split *g, uint64_t id,
		    const struct perf_event_attr *a);
void group_split_done(struct group_split *g);

typedef int (*group_split_fn)(void *ctx, const void *record, size_t len);
/* Gives `fn` the record as it is, or the samples that are in it: of each event its id, and as
 * period what it has counted since the last sample of this descriptor (of this thread, where threads
 * inherit).  Records are to come as the kernel wrote them.
 * 0, -ENOMEM, or what `fn` returned. */
int group_split_record(struct group_split *g, const void *record, size_t len,
		       group_split_fn fn, void *ctx);
