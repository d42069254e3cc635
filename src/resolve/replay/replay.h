/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay.h - a perf.data through the resolver: what a recording would have made of it.
 * Layer: resolve.  One caller at a time; reads ahead in a thread of its own, if it is let and
 * that is work (perf_input_is_work()).
 *
 * The counterpart of a segment (format/session/session.h): a dict that grows, and batches of sample
 * columns that refer to it.  Memory grows with what is distinct, and with one round of the
 * recorder's rings (replay/feed.h), never with the number of samples. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "decode/record.h"
#include "format/perfdata/input.h"
#include "format/session/dict.h"
#include "format/session/session.h"
#include "resolve/replay/feed.h"
#include "resolve/replay/resolver.h"

struct err;
struct replay;

/* A process mapped a jitdump, in time of the samples; 0: they have none. */
typedef void (*replay_dump_fn)(void *ctx, const struct record_mmap *m,
			       uint64_t time_ns);

/* One sample with its record, for who wants more than columns.  `rec` is good during the
 * call.  A negative errno ends the replay with it; of another one than -ENOMEM
 * it has told the reason itself. */
typedef int (*replay_sample_fn)(void *ctx, const struct decoder *decoder,
				const struct record *rec, const struct sample *sample);

/* One record of the side band, with its own time.  A negative errno ends the replay with it. */
typedef int (*replay_side_fn)(void *ctx, const struct record *rec);

struct replay_options {
	bool chains;    /* stacks with their callers; else the leaves alone: faster */
	bool no_stacks; /* no stacks at all (DICT_NONE), for who uses replay_locate() */
	bool cgroups;   /* threads with their cgroups */
	bool threads; /* unpack and unwind with more than one; the result is the same */
	unsigned int nr_threads; /* then: at most, from 2 on; 0: as there are CPUs */
	/* Called for each sample in order of time (then of the file) instead of batches:
	 * replay_next() returns 1 or an error when all is done.  May be NULL. */
	replay_sample_fn each;
	/* With `each`: likewise, between the samples. */
	replay_side_fn each_side;
	replay_dump_fn jit_mapped; /* may be NULL */
	void *ctx;
};

/* The input stays the caller's and outlives the replay.  -EBADMSG: it has no events. */
int replay_new(struct perf_input *in, const struct replay_options *options,
	       struct replay **ret_replay, struct err *err);
void replay_free(struct replay *r); /* NULL is fine */
/* Before the first replay_next(): places that jitdumps tell of, which processes of the recording
 * mapped, become those of the dump (jit/stage.h), if it is found there.  The strings of
 * `places` outlive the replay.  0 or -ENOMEM. */
struct jit_places;
int replay_use_jit(struct replay *r, const struct jit_places *places);
/* Before the first replay_next(), with `chains`: user stacks are unwound (resolver.h), with the
 * tables that `table` gives.  0 or -ENOMEM. */
struct unwind_table;
int replay_use_unwind(struct replay *r,
		      const struct unwind_table *(*table)(void *ctx, uint32_t image),
		      void *ctx);
/* resolver_unwound() of the sample at hand, in the call of `each`. */
const uint64_t *replay_unwound(struct replay *r, const struct record *rec, size_t max,
			       size_t *ret_nr);
/* By enum unwind_end (resolve/unwind/unwind.h). */
const uint64_t *replay_unwind_ends(const struct replay *r);
/* How many names in the dict have changed, of threads whose name came behind samples of theirs; before
 * replay_end().  Without `each` alone. */
uint64_t replay_changed(const struct replay *r);
/* The input's info in the words of a session; borrowed. */
const struct session_info *replay_info(const struct replay *r);
/* Grows while replay_next() proceeds: a batch refers only to what is there. */
const struct dict *replay_dict(const struct replay *r);
/* The next batch with all columns, borrowed until the next call.  Unknown cpus are
 * DICT_NONE.  0, 1 at the end, or a negative errno; damage is counted, not an error. */
int replay_next(struct replay *r, struct sample_batch *ret_batch, struct err *err);
/* resolver_locate() and resolver_image() of the sample at hand, in the call of `each`. */
int replay_locate(struct replay *r, uint16_t mode, uint64_t address,
		  struct resolver_place *ret_place);
int replay_image(struct replay *r, const struct resolver_place *place,
		 uint32_t *ret_image);
/* Everything is read: frees what that took.  The dict stays, and all that is below. */
void replay_end(struct replay *r);
/* Complete once replay_next() has returned 1. */
const struct feed_counts *replay_counts(const struct replay *r);
/* Samples that could not be decoded. */
uint64_t replay_undecodable(const struct replay *r);
/* At the end, for pipes: build-ids that came behind the samples go to their images. */
void replay_late_build_ids(struct replay *r);
