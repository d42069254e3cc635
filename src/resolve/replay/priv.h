/* SPDX-License-Identifier: GPL-2.0-or-later */
/* priv.h - what the files behind replay.h share: open.c, batch.c, samples.c, columns.c and in_order.c.
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
	REPLAY_BATCH = 1 << 13, /* samples handed over at once */
	REPLAY_GROUP = 16 /* samples of a group; that are unwound: SAMPLE_GROUP_MAX */
};

/* What a sample of the group has besides. */
struct replay_extra {
	const struct timed_record
		*item; /* in order of time: where it is from; NULL of one that waited */
	bool is_shared; /* between the events that it tells of: `shares` */
	struct group_shares shares;
};

/* A copy of one whose chain is not complete yet. */
struct replay_late {
	uint8_t *bytes; /* malloc'd */
	uint32_t size;
	uint64_t order; /* in the file */
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
	VEC(uint32_t) event_of; /* by attr: number in the dict, DICT_NONE before */
	struct feed feed;
	struct read_ahead *ahead; /* NULL: `feed` is asked directly */
	struct feed_batch batch;
	size_t chunk; /* of the batch */
	struct feed_walk walk;
	struct sorter sorter;
	struct jit_stage *jit; /* NULL: not asked for */
	struct jit_places jit_places;
	uint64_t time_ns;      /* of the last sample */
	struct side_band side; /* for `each_side` */
	uint64_t undecodable;
	uint64_t unwind_ends[UNWIND_ENDS]; /* once the resolver is gone */
	struct replay_columns *columns;
	size_t filled; /* of the columns */
	struct sample_group group;
	struct replay_extra *extra; /* SAMPLE_GROUP_MAX, of the group's samples */
	struct deferred_chains deferred;
	VEC(struct replay_late) late;
	bool no_more_chains; /* the file is at its end */
	struct deltas counted;
	bool reads;        /* some samples tell what was counted */
	size_t max_shares; /* of a sample, 1 at least */
};

/* The number of the event of an attr, described in the dict; DICT_NONE when memory is short. */
uint32_t replay_describe_event(struct replay *r, uint32_t attr);
/* The same by the attr's number, described once. */
uint32_t replay_event(struct replay *r, uint32_t attr);
/* Without callers a sample's fields of fixed size are enough, unless somebody looks. */
static inline bool replay_looks_at_all(const struct replay *r)
{
	return r->options.chains || r->options.cgroups || r->options.each || r->reads;
}

/* Of batch.c.  The next batch, whose side band is applied.  0, 1 at the end, or a negative errno. */
int replay_next_batch(struct replay *r, struct err *err);
/* Releases the current chunk; the next one is. */
void replay_end_chunk(struct replay *r);
/* Drops what no sample asks for any more. */
void replay_forget(struct replay *r);

/* Of samples.c.  Adds the next samples of the current chunk to the group, which has less than `max`, up to
 * these.  0; 1: the chunk is at its end; or -ENOMEM. */
int replay_group_chunk(struct replay *r, size_t max);
/* Adds the next samples before that time, up to a full group.  0 or -ENOMEM. */
int replay_group_sorted(struct replay *r, uint64_t before_ns);
/* Gives the sink those which waited and are whole now, at most `max`; the group is empty.  0, or a
 * negative errno. */
int replay_take_late(struct replay *r, size_t max);
/* What is behind the resolver.  0 or -ENOMEM. */
int replay_finish_sample(struct replay *r, struct grouped_sample *s);

/* Of columns.c and in_order.c: struct sample_sink.take, and what replay_next() is with it. */
int replay_take_columns(void *ctx, size_t from, size_t to);
int replay_next_columns(struct replay *r, struct sample_batch *ret_batch,
			struct err *err);
int replay_take_in_order(void *ctx, size_t from, size_t to);
int replay_give_all(struct replay *r, struct err *err);
