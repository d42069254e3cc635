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

/* Returns the width of a block for recordings of this total length; 0: the length is unknown. */
uint64_t block_width_ns(uint64_t length_ns);
/* Returns `width_ns`, doubled until the span consists of few enough blocks. */
uint64_t block_merged_width_ns(uint64_t width_ns, uint64_t span_ns);
/* Merges the rows of a profile that differ only in the keys after the first nr_keys. These keys
 * assign each row to a block: session and time, or only time if the session is among the first
 * keys. Afterwards the profile has the first nr_keys keys, and p->block_cells has the samples of
 * each row in each block. Blocks are numbered session by session. Returns 0 or -ENOMEM. */
int profile_fold_blocks(struct profile *p, size_t nr_keys);
