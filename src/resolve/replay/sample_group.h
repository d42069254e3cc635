/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_group.h - decoded samples through the resolver, in groups: each step of all of a group comes
 * before the next one, so that they wait for memory together.
 * Layer: resolve, for recorders and for readers of perf.data files (replay.h).  The functions are for
 * the resolver's thread. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "decode/record.h"
#include "format/session/session.h"

struct resolver;
struct resolver_ahead;

enum {
	SAMPLE_GROUP_MAX = 128 /* samples: a chunk of stacks of 8 KB */
};

struct grouped_sample {
	struct record rec; /* its caller decodes it, and ... */
	const void *
		bytes; /* ... may note the record, which stays as it is until the group ends */
	size_t len;
	struct buf
		chain; /* room for a chain that is joined (resolve/space/chain_join.h) */
	struct sample sample; /* what the sink is given */
};

/* What becomes of the samples of a group, in their order.  A negative errno ends the group, and
 * becomes the result of sample_group_end(). */
struct sample_sink {
	/* Numbers `from` to `to` - 1 of the group are resolved. */
	int (*take)(void *ctx, size_t from, size_t to);
	/* Number `at` is not: the unwind table that it needs is being made (resolver_table_later()).
	 * NULL: tables are never made later. */
	int (*defer)(void *ctx, size_t at);
	void *ctx;
};

struct group_step;

struct sample_group {
	struct grouped_sample *samples; /* the next one is decoded into samples[nr] */
	size_t nr;
	size_t max; /* may be changed between groups, up to what it was at first */
	/* Each sample is taken before the next one is resolved: the sink may use resolver_locate(),
	 * resolver_image(), resolver_unwound() and resolver_last_unwound().  So it is in a group
	 * of one, too. */
	bool in_turn;
	/* The rest is for sample_group.c. */
	size_t nr_room;
	struct group_step *steps;
	struct resolver *resolver;
	const struct decoder *decoder;
	struct resolver_ahead *ahead;
	struct sample_sink sink;
};

/* Room for `max` samples (1 to SAMPLE_GROUP_MAX) in a group that starts as zeros.  `r` and `d` outlive it.
 * 0 or -ENOMEM. */
int sample_group_open(struct sample_group *g, struct resolver *r,
		      const struct decoder *d, const struct sample_sink *sink,
		      size_t max);
/* User stacks are unwound for the whole group at first, by `nr_threads` with the caller's (1: by that
 * alone); the result is the same.  Behind resolver_use_unwind().  0, -ENOMEM, or -EAGAIN: there is no thread
 * to be had. */
int sample_group_unwind_ahead(struct sample_group *g, unsigned int nr_threads);
/* Which binaries have unwind tables may have changed.  Between groups. */
void sample_group_forget_tables(struct sample_group *g);
/* Before the resolver is freed.  A group that is all zeros is fine. */
void sample_group_done(struct sample_group *g);
/* samples[nr] is decoded.  True: the group is full and has to be ended. */
static inline bool sample_group_add(struct sample_group *g)
{
	return ++g->nr == g->max;
}
/* Resolves the samples and gives them to the sink; the group is empty then.  The samples that come
 * out do not depend on how they are grouped.  From the first sample that is added on no side band is applied.
 * 0, -ENOMEM, or what the sink returned. */
int sample_group_end(struct sample_group *g);
