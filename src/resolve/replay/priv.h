/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - shared by the files that implement replay.h: open.c, batch.c, samples.c, columns.c
 * and in_order.c.
 * Layer: resolve, private to them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "decode/record.h"
#include "format/session/dict.h"
#include "resolve/jit/files.h"
#include "resolve/replay/feed.h"
#include "resolve/replay/ids.h"
#include "resolve/replay/replay.h"
#include "resolve/replay/resolver.h"
#include "resolve/replay/sample_group.h"
#include "resolve/replay/side_band.h"
#include "resolve/replay/sorter.h"
#include "resolve/space/chain_join.h"
#include "resolve/space/group_reads.h"
#include "resolve/unwind/unwind.h"

struct jit_stage;
struct read_ahead;

enum {
	REPLAY_BATCH = 1 << 13, /* samples of a batch */
	/* Samples of a group; SAMPLE_GROUP_MAX if user stacks are unwound. */
	REPLAY_GROUP = 16
};

/* Additional data of a sample of the group. */
struct replay_extra {
	/* The sorter's item if samples are returned in order of time. NULL for a sample that
	 * waited for the rest of its chain. */
	const struct timed_record *item;
	bool is_shared; /* `shares` has the counts of the sample's events */
	struct group_shares shares;
};

/* A copy of a sample whose chain is not complete yet. */
struct replay_late {
	uint8_t *bytes; /* malloc'd */
	uint32_t size;
	uint64_t order; /* number of its record in the file */
	uint64_t time_ns;
	bool is_shared;
	struct group_shares shares;
};

struct replay_columns {
	uint64_t time_ns[REPLAY_BATCH];
	uint64_t period[REPLAY_BATCH];
	uint32_t thread[REPLAY_BATCH];
	uint32_t event[REPLAY_BATCH];
	uint32_t stack[REPLAY_BATCH];
	uint32_t cpu[REPLAY_BATCH];
};

struct replay {
	struct perf_input *in;
	struct replay_options options;
	struct session_info info;
	struct dict dict;
	struct decoder decoder;
	struct resolver *resolver;
	struct resolver_ops ops;
	struct replay_ids ids;
	VEC(uint32_t) event_of; /* by attr: number in the dict; DICT_NONE: none yet */
	struct feed feed;
	struct read_ahead *ahead; /* NULL: `feed` is read directly */
	struct feed_batch batch;
	size_t chunk; /* the current chunk's index in the batch */
	struct feed_walk walk;
	struct sorter sorter;
	struct jit_stage *jit; /* NULL: not requested */
	bool jit_frames;       /* replay_use_jit() was called */
	struct jit_locations jit_locations;
	struct replay_unwind unwind;
	uint64_t time_ns;      /* of the last sample */
	struct side_band side; /* for `each_side` */
	uint64_t undecodable;
	uint64_t periods; /* sum over all samples so far */
	/* Copy of resolver_unwind_ends(), made before the resolver is freed. */
	uint64_t unwind_ends[UNWIND_ENDS];
	struct replay_columns *columns;
	size_t filled; /* rows of the columns */
	struct sample_group group;
	/* SAMPLE_GROUP_MAX elements: one for each sample of the group. */
	struct replay_extra *extra;
	struct deferred_chains deferred;
	VEC(struct replay_late) late;
	bool no_more_chains; /* at the end of the file, so no deferred chains follow */
	struct deltas counted;
	bool reads;        /* some samples contain counter values */
	bool off_cpu;      /* some samples are in RAW: decoder_set_off_cpu() */
	size_t max_shares; /* maximum number of events counted in one sample; at least 1 */
};

/* Describes the event of an attr in the dict. Returns its number; DICT_NONE if memory is short. */
uint32_t replay_describe_event(struct replay *r, uint32_t attr);
/* Like replay_describe_event(), but describes each event only once. */
uint32_t replay_event(struct replay *r, uint32_t attr);
/* Returns whether whole samples must be decoded. Otherwise the fields of fixed size are enough. */
static inline bool replay_looks_at_all(const struct replay *r)
{
	return r->options.chains || r->options.cgroups || r->options.each || r->reads;
}

/* Functions of batch.c. replay_next_batch() gets the next batch and applies its side band. It
 * returns 0, 1 at the end, or a negative errno. */
int replay_next_batch(struct replay *r, struct err *err);
/* Releases the current chunk and moves to the next one. */
void replay_end_chunk(struct replay *r);
/* Drops the history that no later sample needs. */
void replay_forget(struct replay *r);

/* Functions of samples.c. replay_group_chunk() adds the next samples of the current chunk to the
 * group until the group has `max` samples; call it only if the group has fewer. It returns 0, 1
 * at the end of the chunk, or -ENOMEM. */
int replay_group_chunk(struct replay *r, size_t max);
/* Adds the next samples before that time, up to a full group. Returns 0 or -ENOMEM. */
int replay_group_sorted(struct replay *r, uint64_t before_ns);
/* Passes to the sink at most `max` samples that waited and are complete now. The group is empty
 * at the call. Returns 0 or a negative errno. */
int replay_take_late(struct replay *r, size_t max);
/* Completes a resolved sample: replaces its frames in JIT code by those of jitdumps (after
 * replay_use_jit()), and sets its event. Returns 0 or -ENOMEM. */
int replay_finish_sample(struct replay *r, struct grouped_sample *s);

/* Functions of columns.c and in_order.c. The functions with `take` implement struct
 * sample_sink.take; the other two implement replay_next() for columns and for options.each. */
int replay_take_columns(void *ctx, size_t from, size_t to);
int replay_next_columns(struct replay *r, struct sample_batch *ret_batch,
			struct err *err);
int replay_take_in_order(void *ctx, size_t from, size_t to);
int replay_give_all(struct replay *r, struct err *err);
