/* sample_block.h - samples as the payload of a block, and back as columns.
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
	SAMPLES_PER_BLOCK = 1 << 14,     /* what we write at most ... */
	SAMPLES_PER_BLOCK_MAX = 1 << 16, /* ... and what a reader takes */
	SAMPLE_TIME_UNIT_NS = 100
};

/* In a block by these numbers; COLUMN_TIME and so on are 1 << number. */
enum sample_column {
	SAMPLE_TIME,
	SAMPLE_THREAD,
	SAMPLE_CPU,
	SAMPLE_EVENT,
	SAMPLE_STACK,
	SAMPLE_PERIOD,
	SAMPLE_COLUMN_COUNT,
	/* Other forms of two of them: */
	SAMPLE_RECENT_THREADS = SAMPLE_COLUMN_COUNT,
	SAMPLE_CHAINS
};

enum {
	STACKS_AGAIN = 1 << 13, /* that the writer finds again, at most */
	RECENT_THREADS = 32     /* are told by when they were met last */
};

/* Times come from a timer that fires on a grid, give or take its latency.  The step to
 * the next time is a whole number of grid steps and a small rest; the phase of the grid
 * follows the rests slowly, so that a late interrupt does not make the next look early. */
struct time_grid {
	uint64_t at_ns;   /* of the last time, without most of its latency */
	uint64_t step_ns; /* 0: there is no grid */
	uint64_t unit_ns; /* of times: a multiple of SAMPLE_TIME_UNIT_NS */
};

/* Where the grid expects the time `steps` on (0: here). */
static inline uint64_t time_grid_expect(const struct time_grid *g, uint64_t steps)
{
	return g->at_ns + steps * g->step_ns;
}

/* `rest`: actual less expected time, in units (signed, modulo 2^64). */
static inline void time_grid_follow(struct time_grid *g, uint64_t expected_ns,
				    uint64_t rest)
{
	g->at_ns = expected_ns + rest * (g->step_ns ? g->unit_ns / 4 : g->unit_ns);
}

/* A stack that was told again in this block, and when. */
struct stack_again {
	uint32_t stack;
	uint32_t turn; /* counted from 1 on; 0: there is none here */
};

struct sample_packer {
	VEC(uint64_t) values;
	VEC(uint64_t) rests;           /* of times */
	VEC(struct stack_again) again; /* by hash: one forgets another */
	struct buf column;
	const struct chain_ends
		*ends;       /* the caller's, of the chains in earlier blocks */
	uint32_t time_units; /* of SAMPLE_TIME_UNIT_NS that times are told in; 0: one */
};

/* One above all numbers in earlier blocks. */
struct sample_next {
	uint32_t thread;
	uint32_t stack;
	uint32_t chain;
};

void sample_packer_done(struct sample_packer *p);
/* Appends the payload for `nr` samples, 1 to SAMPLES_PER_BLOCK, and moves *next on.  0 or -ENOMEM. */
int sample_pack(struct sample_packer *p, const struct sample *samples, size_t nr,
		struct sample_next *next, struct column_encoder *e, struct buf *out);

/* Decoded columns, owned; those that were not asked for have undefined contents. */
struct sample_columns {
	size_t nr;
	size_t cap;
	uint64_t *values; /* before they are narrowed */
	uint64_t *time_ns;
	uint64_t *period;
	uint32_t *thread;
	uint32_t *event;
	uint32_t *stack;
	uint32_t *again; /* of stacks, those that were not told first */
	uint32_t *cpu;
	uint8_t *bad; /* for the caller: 1 refers to something lost */
};

void sample_columns_done(struct sample_columns *c);
/* Decodes the columns asked for (COLUMN_...).  A chain that is not in `ends` has the stack
 * CHAIN_LOST.  0, -EBADMSG or -ENOMEM. */
int sample_unpack(struct sample_columns *c, struct cursor *payload,
		  unsigned int columns, const struct chain_ends *ends,
		  struct column_decoder *d);
