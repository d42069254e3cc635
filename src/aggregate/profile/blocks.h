/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blocks.h - divides recordings into blocks of time, for the statistics of correlated samples.
 * Layer: aggregate.  docs/diff.md explains the method. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;

/* The samples of a row of the profile in a block. */
struct block_cell {
	uint32_t row;
	uint32_t block;
	uint64_t samples;
};

/* Returns the width of blocks for recordings of this length together; 0: unknown. */
uint64_t block_width_ns(uint64_t length_ns);
/* Doubles the width of blocks until the span does not have too many of them. */
uint64_t block_merged_width_ns(uint64_t width_ns, uint64_t span_ns);
/* Adds up the rows of a profile whose last keys divide it into blocks: session and time, or time
 * only if the session is another key.  The profile then has the first nr_keys keys, and its rows
 * have cells in p->block_cells.  The blocks of a session follow those of the previous one.
 * Returns 0 or -ENOMEM. */
int profile_fold_blocks(struct profile *p, size_t nr_keys);
