/* SPDX-License-Identifier: GPL-2.0-or-later */
/* feed.h - reads a perf.data for replay.h: chunks of samples, each with the side band that must
 * be applied before its samples are resolved.
 * Layer: resolve, for the files of replay.h alone.
 *
 * perf writes its ring buffers to the file in rounds. After round n has been read, no record
 * older than the newest time of round n - 1 can follow (ordered events; FINISHED_ROUND of
 * tools/perf/Documentation/perf.data-file-format.txt). So a chunk waits until the round after
 * its own is complete: then its side band is also complete. If there are no rounds, or they are
 * too long to wait for, the rest of the side band is first collected in a separate pass.
 *
 * feed_next() can run in a separate thread: a batch belongs to its receiver and does not change
 * any more. */
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
	FEED_RECORD_TYPES =
		128 /* types counted separately; the last one counts all higher types */
};

struct feed_chunk {
	struct perf_chunk chunk;
	uint64_t order;     /* number of its first record in the file */
	uint64_t begin;     /* bytes of the input before the chunk */
	uint64_t end;       /* bytes of the input up to the chunk's end */
	uint64_t oldest_ns; /* no sample of the chunk is older */
};

/* A batch: the caller applies all of `side`, then resolves the samples of the chunks. */
struct feed_batch {
	/* Records without a time get the frontier of the previous batch as time. */
	struct side_band side;
	VEC(struct feed_chunk) chunks;
	uint64_t frontier_ns; /* no sample of the chunks is newer */
	uint64_t forget_ns;   /* no later sample is older; 0: unknown */
	bool has_guests;      /* an ID_INDEX read so far has ids of virtual machines */
};

struct feed_counts {
	uint64_t by_type[FEED_RECORD_TYPES];
	uint64_t records;
	uint64_t lost; /* lost samples (LOST, LOST_SAMPLES) */
	/* Number of LOST records; the lost records can include side band. */
	uint64_t lost_records;
	uint64_t filtered;    /* samples dropped on purpose (perf record --filter) */
	uint64_t undecodable; /* malformed records */
	uint64_t first_ns;    /* of the samples; 0: none has a time */
	uint64_t last_ns;
};

struct feed {
	struct perf_input *in;
	const struct decoder *decoder;
	bool timeless;   /* no sample has a time: use the order in the file instead */
	bool know_all;   /* the side band of all further samples is collected already */
	bool has_guests; /* as in the batch */
	bool hold_all;   /* keep all chunks waiting, whatever memory they need */
	bool heads_only; /* only the fixed-size fields of samples are needed */
	bool gathers;    /* waiting chunks contain only the fixed-size fields */
	bool ended;
	uint16_t
		time_at; /* offset of the time in a sample, if all events agree; else 0 */
	uint64_t order;      /* records read so far */
	uint64_t position;   /* bytes read so far */
	uint64_t newest_ns;  /* newest time so far */
	uint64_t round_ns;   /* newest time of the last complete round */
	uint64_t before_ns;  /* newest time of the round before it */
	uint64_t round_end;  /* position of the last complete round's end */
	uint64_t before_end; /* position of the end of the round before it */
	uint64_t applied_ns; /* frontier of the last batch */
	bool untimed_side;   /* there were side-band records without a time */
	/* Records that wait until the chunk they belong to is complete. */
	struct side_band side;
	VEC(struct feed_chunk) waiting;
	/* The rest of a partly used chunk; `len` is 0 if there is no such chunk. */
	struct perf_chunk rest;
	size_t waiting_bytes;
	struct feed_counts counts;
};

/* Initializes a feed. `decoder` contains the events of `in`. */
void feed_init(struct feed *f, struct perf_input *in, const struct decoder *decoder);
/* Frees the records and chunks that still wait. Does not close the input. */
void feed_done(struct feed *f);
/* Sets *ret_batch to the next batch, which can contain no chunks. Returns 0, 1 at the end, or a
 * negative errno with a message in *err. */
int feed_next(struct feed *f, struct feed_batch *ret_batch, struct err *err);
/* Iterates over the samples of a chunk. */
struct feed_walk {
	size_t pos;
	/* Number of the next record in the file; after a sample was returned, this is its own
	 * number plus 1. */
	uint64_t order;
};

/* Returns the next SAMPLE record of the chunk and its size, or NULL after the last one. */
const uint8_t *feed_walk_sample(const struct feed *f, const struct perf_chunk *chunk,
				struct feed_walk *walk, uint32_t *ret_size);
/* Returns the time of a SAMPLE record, or 0 if it has none. */
uint64_t feed_sample_time(const struct feed *f, const uint8_t *bytes, uint32_t size);
/* Frees the batch and releases its remaining chunks. */
void feed_batch_done(struct feed *f, struct feed_batch *batch);
