/* SPDX-License-Identifier: GPL-2.0-or-later */
/* feed.h - the reading half of replay.c: chunks of a perf.data, each with the side
 * band that must be known before its samples are resolved.
 * Layer: resolve, for replay.c alone.
 *
 * perf writes its rings out in rounds.  When round n has been read, nothing older than the
 * newest time of round n - 1 can come any more (ordered events; FINISHED_ROUND of
 * tools/perf/Documentation/perf.data-file-format.txt).  So chunks wait until the round behind
 * theirs is complete: their side band is complete then.  Where rounds are missing or too
 * long to wait for, the rest of the side band is collected in a pass of its own first.
 *
 * Everything here may run in a thread of its own; a batch is handed over whole. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "decode/record.h"
#include "format/perfdata/input.h"
#include "resolve/replay/side_band.h"

struct err;

enum {
	FEED_RECORD_TYPES = 128 /* counted each; higher ones together in the last */
};

struct feed_chunk {
	struct perf_chunk chunk;
	uint64_t order;     /* of its first record in the file */
	uint64_t begin;     /* its position: bytes before it */
	uint64_t end;       /* position behind it */
	uint64_t oldest_ns; /* none of its samples is older */
};

/* Apply all of `side`, then resolve the samples of the chunks. */
struct feed_batch {
	struct side_band
		side; /* those without a time: just behind all that was resolved before */
	VEC(struct feed_chunk) chunks;
	uint64_t frontier_ns; /* no sample of the chunks is younger */
	uint64_t forget_ns;   /* no later sample is older */
};

struct feed_counts {
	uint64_t by_type[FEED_RECORD_TYPES];
	uint64_t records;
	uint64_t lost;         /* samples (LOST, LOST_SAMPLES) */
	uint64_t lost_records; /* LOST records: side band may be among the lost */
	uint64_t undecodable;  /* malformed ones */
	uint64_t first_ns;     /* of the samples; 0: none with a time */
	uint64_t last_ns;
};

struct feed {
	struct perf_input *in;
	const struct decoder *decoder;
	bool timeless; /* no sample has a time: the order in the file takes its place */
	bool know_all; /* the side band of all that comes was collected before */
	bool hold_all; /* ... and nobody minds the memory it takes to wait for all */
	bool heads_only; /* of samples only the fields of fixed size are looked at */
	bool gathers;    /* ... and they wait in little room */
	bool ended;
	uint16_t time_at;      /* of a sample, where all events agree; else 0 */
	uint64_t order;        /* records so far */
	uint64_t position;     /* bytes so far */
	uint64_t newest_ns;    /* so far */
	uint64_t round_ns;     /* newest of the last complete round */
	uint64_t before_ns;    /* ... and of the one before */
	uint64_t round_end;    /* position behind the last complete round */
	uint64_t before_end;   /* ... and the one before */
	uint64_t applied_ns;   /* frontier of the last batch */
	bool untimed_side;     /* side-band records without a time were met */
	struct side_band side; /* waiting */
	VEC(struct feed_chunk) waiting;
	struct perf_chunk rest; /* of what was taken in part; `len` is 0 without */
	size_t waiting_bytes;
	struct feed_counts counts;
};

/* `decoder` knows the events of `in`. */
void feed_init(struct feed *f, struct perf_input *in, const struct decoder *decoder);
/* Releases what waits; not the input. */
void feed_done(struct feed *f);
/* The next batch, which may have no chunk.  0, 1 at the end, or a negative errno. */
int feed_next(struct feed *f, struct feed_batch *ret_batch, struct err *err);
/* Steps from sample to sample of a chunk. */
struct feed_walk {
	size_t pos;
	uint64_t
		order; /* of the next record in the file; behind a sample: its own and 1 */
};

/* The next SAMPLE record of the chunk and its size, or NULL behind the last. */
const uint8_t *feed_walk_sample(const struct feed *f, const struct perf_chunk *chunk,
				struct feed_walk *walk, uint32_t *ret_size);
/* Time of a SAMPLE record, 0 if it has none. */
uint64_t feed_sample_time(const struct feed *f, const uint8_t *bytes, uint32_t size);
/* Releases the chunks that are left in it, too. */
void feed_batch_done(struct feed *f, struct feed_batch *batch);
