/* priv.h - what replay/samples.c (reading), replay/sample_group.c and replay/open.c share.
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
#include "resolve/replay/resolver_ahead.h"
#include "resolve/replay/side_queue.h"
#include "resolve/replay/sorter.h"
#include "resolve/space/chain_join.h"
#include "resolve/space/group_reads.h"
#include "resolve/unwind/unwind.h"

struct jit_stage;
struct read_ahead;

enum {
	REPLAY_BATCH = 1 << 13, /* samples handed over at once */
	REPLAY_GROUP = 16,      /* samples whose memory is fetched together ... */
	REPLAY_UNWIND_GROUP = RESOLVER_AHEAD_MAX /* ... or that are unwound together */
};

struct replay_sample {
	struct record rec;
	struct resolver_found found;
	struct resolver_chain state;
	struct sample sample;
	struct buf chain;               /* of one that was joined */
	const struct sorter_item *item; /* in order of time: where it is from */
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
	uint64_t time_ns;       /* of the last sample */
	struct side_queue side; /* for `each_side` */
	uint64_t undecodable;
	uint64_t unwind_ends[UNWIND_ENDS]; /* once the resolver is gone */
	struct replay_columns *columns;
	struct replay_sample *group;      /* REPLAY_UNWIND_GROUP */
	int group_max;                    /* of them are used */
	struct resolver_ahead *unwinding; /* NULL: each stack when its turn comes */
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

/* Of replay/sample_group.c.  The sample of a record that resolver_find() found.  0 or -ENOMEM. */
int replay_finish(struct replay *r, const struct record *rec,
		  struct resolver_found *found, struct sample *sample);
/* The sample, or one for each event that it tells of, into the columns; `sample` is the last one
 * then.  0 or -ENOMEM. */
int replay_put(struct replay *r, const struct replay_sample *s, struct sample *sample,
	       size_t *nr);
/* The group into the columns, unless its chunk was lost meanwhile.  0 or -ENOMEM. */
int replay_finish_group(struct replay *r, int nr_group, size_t *nr);
