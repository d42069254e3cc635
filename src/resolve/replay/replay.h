/* SPDX-License-Identifier: GPL-2.0-or-later */
/* replay.h - reads a perf.data file and resolves its samples with the same resolver as a
 * recorder (resolver.h).
 * Layer: resolve. One caller at a time; reads ahead in its own thread if that is allowed and
 * useful (perf_input_is_work()).
 *
 * Like a segment of a session (format/session/session.h), a replay provides a dict, which grows,
 * and batches of sample columns that refer to the dict. Memory grows with the number of distinct
 * items, and with one round of the recorder's rings (replay/feed.h), but not with the number of
 * samples. */
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

/* Called when a process maps a jitdump. `time_ns` is in the clock of the samples; 0 if they
 * have no time. */
typedef void (*replay_dump_fn)(void *ctx, const struct record_mmap *m,
			       uint64_t time_ns);

/* Receives one sample with its record, for callers that need more than columns. `rec` is valid
 * during the call. A negative errno ends the replay, which returns it; for any error but
 * -ENOMEM, the function has already reported the reason. */
typedef int (*replay_sample_fn)(void *ctx, const struct decoder *decoder,
				const struct record *rec, const struct sample *sample);

/* Receives one side-band record with its own time. A negative errno ends the replay, which
 * returns it. */
typedef int (*replay_side_fn)(void *ctx, const struct record *rec);

struct replay_options {
	bool chains; /* stacks with callers; otherwise only leaves, which is faster */
	bool no_stacks; /* no stacks (DICT_NONE), for users of replay_locate() */
	bool cgroups;   /* resolve the cgroup of each thread */
	bool threads;   /* use several threads; the result is the same */
	unsigned int
		nr_threads; /* with `threads`: the maximum, at least 2; 0: number of CPUs */
	/* Called for each sample in order of time, and for samples with the same time in the
	 * order of the file. With it, replay_next() returns no batches: it returns 1 when all
	 * samples are done, or an error. May be NULL. */
	replay_sample_fn each;
	/* With `each`: called for each side-band record, between the samples in order of time.
	 * May be NULL. */
	replay_side_fn each_side;
	replay_dump_fn jit_mapped; /* may be NULL */
	void *ctx;
};

/* Creates a replay. The caller keeps the input, which must outlive the replay. Returns 0, or a
 * negative errno with a message in *err: -ENOMEM; -EBADMSG if the input has no events; -ENODATA if
 * it contains the counts of `perf stat record`. */
int replay_new(struct perf_input *in, const struct replay_options *options,
	       struct replay **ret_replay, struct err *err);
void replay_free(struct replay *r); /* accepts NULL */
/* Call before the first replay_next(). Locations in code that a JIT compiler described become
 * those of its jitdump (jit/stage.h), if a process of the recording mapped the dump and it is
 * found at `locations`. The strings of `locations` outlive the replay. Returns 0 or -ENOMEM. */
struct jit_locations;
int replay_use_jit(struct replay *r, const struct jit_locations *locations);
/* Like replay_use_jit(), but only for unwinding: no location changes. */
int replay_use_jit_tables(struct replay *r, const struct jit_locations *locations);
/* Call before the first replay_next(), with `chains`. User stacks are unwound with the tables
 * and the code that these functions return, as in struct resolver_unwind. Returns 0 or -ENOMEM. */
struct unwind_table;
struct replay_unwind {
	const struct unwind_table *(*table)(void *ctx, uint32_t image);
	size_t (*code)(void *ctx, uint32_t image, uint64_t offset, uint8_t *ret_bytes,
		       size_t len);
	void *ctx;
};
int replay_use_unwind(struct replay *r, const struct replay_unwind *from);
/* Returns the result of resolver_unwound() for the current sample. Call it only within `each`. */
const uint64_t *replay_unwound(struct replay *r, const struct record *rec, size_t max,
			       size_t *ret_nr);
/* Returns how often stacks ended for each reason, by enum unwind_end (resolve/unwind/unwind.h). */
const uint64_t *replay_unwind_ends(const struct replay *r);
/* Returns how many names in the dict have changed, because a thread's name came after some of
 * its samples. Call before replay_end(). Always 0 with `each`. */
uint64_t replay_changed(const struct replay *r);
/* Returns the description of the recording, in the same form as that of a session. Borrowed from
 * the replay and its input. */
const struct session_info *replay_info(const struct replay *r);
/* Returns the dict, which grows with each replay_next(). A batch only refers to entries that
 * exist already. */
const struct dict *replay_dict(const struct replay *r);
/* Sets *ret_batch to the next batch with all columns, borrowed until the next call. Unknown CPUs
 * are DICT_NONE. Returns 0, 1 at the end, or a negative errno with a message in *err. Damaged
 * records are counted (replay_undecodable()) and are not an error. */
int replay_next(struct replay *r, struct sample_batch *ret_batch, struct err *err);
/* Return the results of resolver_locate() and resolver_image() for the current sample. Call them
 * only within `each`. */
int replay_locate(struct replay *r, uint16_t mode, uint64_t address,
		  struct resolver_position *ret_position);
int replay_image(struct replay *r, const struct resolver_position *position,
		 uint32_t *ret_image);
/* Call after everything is read: frees the memory for reading. Afterwards replay_dict(),
 * replay_info(), replay_unwind_ends() and the functions below can still be called. */
void replay_end(struct replay *r);
/* Returns the counts, complete once replay_next() has returned 1. */
const struct feed_counts *replay_counts(const struct replay *r);
/* Returns how many samples could not be decoded. */
uint64_t replay_undecodable(const struct replay *r);
/* Call at the end, for pipes: gives images the build-ids that came after the samples. */
void replay_late_build_ids(struct replay *r);
