/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_group.h - passes decoded samples through the resolver in groups: each step is done for
 * the whole group before the next step, so that their memory accesses overlap.
 * Layer: resolve, for recorders and for readers of perf.data files (replay.h). Call the
 * functions from the resolver's thread. */
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
	SAMPLE_GROUP_MAX = 128 /* samples; about one chunk of 8 KB stacks */
};

struct grouped_sample {
	struct record rec; /* decoded by the caller */
	/* The record, if the caller needs it; it must not change until the group ends. */
	const void *bytes;
	size_t len;
	/* Buffer for a joined chain (resolve/space/chain_join.h). */
	struct buf chain;
	struct sample sample; /* the result, for the sink */
};

/* Receives the samples of a group, in their order. A negative errno ends the group, and becomes
 * the result of sample_group_end(). */
struct sample_sink {
	/* The samples `from` to `to` - 1 of the group are resolved. */
	int (*take)(void *ctx, size_t from, size_t to);
	/* The sample `at` is not resolved, because the unwind table that it needs is being made
	 * (resolver_table_later()). NULL if that never happens. */
	int (*defer)(void *ctx, size_t at);
	void *ctx;
};

struct group_step;

struct sample_group {
	struct grouped_sample
		*samples; /* the caller decodes the next one into samples[nr] */
	size_t nr;
	size_t max; /* may be changed between groups, up to its first value */
	/* Pass each sample to the sink before the next one is resolved: then the sink may use
	 * resolver_locate(), resolver_image(), resolver_unwound() and resolver_last_unwound().
	 * A group with only one sample always behaves like this. */
	bool is_sequential;
	/* The other fields are private to sample_group.c. */
	size_t nr_room;
	struct group_step *steps;
	struct resolver *resolver;
	const struct decoder *decoder;
	struct resolver_ahead *ahead;
	struct sample_sink sink;
};

/* Opens a group of `max` samples (1 to SAMPLE_GROUP_MAX); `g` is zeroed before. `r` and `d`
 * outlive it. Returns 0 or -ENOMEM. */
int sample_group_open(struct sample_group *g, struct resolver *r,
		      const struct decoder *d, const struct sample_sink *sink,
		      size_t max);
/* From now on unwinds the user stacks of a whole group first, in `nr_threads` threads including
 * the caller's. The result is the same. Call after resolver_use_unwind(). Returns 0, -ENOMEM,
 * or -EAGAIN if no thread could be started. */
int sample_group_unwind_ahead(struct sample_group *g, unsigned int nr_threads);
/* Call between groups if binaries may have got or lost their unwind tables. */
void sample_group_forget_tables(struct sample_group *g);
/* Frees the group. Call before the resolver is freed. Accepts a zeroed group. */
void sample_group_done(struct sample_group *g);
/* Adds samples[nr], which is decoded. Returns true if the group is full and has to be ended. */
static inline bool sample_group_add(struct sample_group *g)
{
	return ++g->nr == g->max;
}
/* Resolves the samples and passes them to the sink; the group is empty then. The result does
 * not depend on how samples are grouped. Do not apply side band between the first added sample
 * and this call. Returns 0, -ENOMEM, or what the sink returned. */
int sample_group_end(struct sample_group *g);
