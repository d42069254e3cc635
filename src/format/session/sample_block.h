/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_block.h - encodes samples as the payload of a block, and decodes them to columns.
 * Layer: format, private to it.  The layout is in docs/format.md, section 6. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "format/session/column.h"
#include "format/session/dict_block.h"
#include "format/session/session.h"

enum {
	SAMPLES_PER_BLOCK = 1 << 14, /* maximum samples of a block that is written */
	SAMPLES_PER_BLOCK_MAX = 1 << 16, /* maximum samples of a block that is read */
	SAMPLE_TIME_UNIT_NS = 100
};

/* These numbers are stored in blocks. COLUMN_TIME etc. are 1 << number. */
enum sample_column {
	SAMPLE_TIME,
	SAMPLE_THREAD,
	SAMPLE_CPU,
	SAMPLE_EVENT,
	SAMPLE_STACK,
	SAMPLE_PERIOD,
	SAMPLE_COLUMN_COUNT,
	/* Alternative encodings of two columns: */
	SAMPLE_RECENT_THREADS = SAMPLE_COLUMN_COUNT,
	SAMPLE_CHAINS
};

enum {
	STACKS_AGAIN = 1 << 13, /* size of the writer's hash table of stacks */
	/* threads that can be encoded by how recently they appeared */
	RECENT_THREADS = 32
};

/* Predicts times that come from a timer, which fires on a regular grid plus some latency. The
 * distance to the next time is stored as a whole number of grid steps and a small remainder. The
 * predicted grid follows the remainders slowly, so that one delayed interrupt does not shift the
 * following predictions. */
struct time_grid {
	uint64_t at_ns;   /* the last time, without most of its latency */
	uint64_t step_ns; /* 0: no grid */
	uint64_t unit_ns; /* resolution of times: a multiple of SAMPLE_TIME_UNIT_NS */
};

/* Returns the predicted time `steps` steps after at_ns. */
static inline uint64_t time_grid_expect(const struct time_grid *g, uint64_t steps)
{
	return g->at_ns + steps * g->step_ns;
}

/* Moves the grid to a time. `rest` is the actual time minus the predicted time, in units (signed,
 * modulo 2^64). */
static inline void time_grid_follow(struct time_grid *g, uint64_t expected_ns,
				    uint64_t rest)
{
	g->at_ns = expected_ns + rest * (g->step_ns ? g->unit_ns / 4 : g->unit_ns);
}

/* A recent stack that was not the end of the next expected chain. `position` numbers such
 * stacks. */
struct stack_again {
	uint32_t stack;
	uint32_t position; /* counts from 1; 0: the slot is unused */
};

struct sample_packer {
	VEC(uint64_t) values;
	VEC(uint64_t) rests; /* times minus the times that the grid predicts */
	/* hash table; a colliding entry replaces the old one */
	VEC(struct stack_again) again;
	struct buf column;
	/* Ends of the chains in earlier blocks; owned by the caller. */
	const struct chain_ends *ends;
	/* time resolution in multiples of SAMPLE_TIME_UNIT_NS; 0 means 1 */
	uint32_t time_units;
};

/* For each kind, the largest number in earlier blocks plus 1. */
struct sample_next {
	uint32_t thread;
	uint32_t stack;
	uint32_t chain;
};

void sample_packer_done(struct sample_packer *p);
/* Appends the payload for `nr` samples (1 to SAMPLES_PER_BLOCK) and advances *next. Returns 0
 * or -ENOMEM. */
int sample_pack(struct sample_packer *p, const struct sample *samples, size_t nr,
		struct sample_next *next, struct column_encoder *e, struct buf *out);

/* Decoded columns, owned by this struct. Columns that were not requested have undefined
 * contents. */
struct sample_columns {
	size_t nr;
	size_t cap;
	uint64_t *values; /* a column before it is narrowed to 32 bits */
	uint64_t *time_ns;
	uint64_t *period;
	uint32_t *thread;
	uint32_t *event;
	uint32_t *stack;
	/* The stacks so far in this block that were not the end of the next expected chain. */
	uint32_t *again;
	uint32_t *cpu;
	uint8_t *bad; /* set by the caller: 1 if the sample refers to lost data */
};

void sample_columns_done(struct sample_columns *c);
/* Decodes the requested columns (COLUMN_...). If a chain is not in `ends`, its sample gets the
 * stack CHAIN_LOST. Returns 0, -EBADMSG or -ENOMEM. */
int sample_unpack(struct sample_columns *c, struct cursor *payload,
		  unsigned int columns, const struct chain_ends *ends,
		  struct column_decoder *d);
