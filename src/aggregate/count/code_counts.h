/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_counts.h - counts how often code ran, by location in images, from samples and branch
 * stacks.  For profiles that compilers and linkers read, which need locations instead of names.
 * Layer: aggregate.  Memory use grows with the number of distinct elements. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

/* A location in code; the offset is as in struct frame (format/session/dict.h). */
struct code_position {
	uint32_t image;
	uint64_t offset;
	uint64_t samples; /* taken at this location */
};

/* A taken branch, or a run of sequential code: from a branch's target through the next branch. */
struct code_edge {
	uint32_t from; /* indices of `positions` */
	uint32_t to;
	uint64_t count;
	uint64_t mispredicted; /* only for branches */
};

typedef VEC(struct code_edge) code_edge_vec;

struct code_counts {
	VEC(struct code_position) positions; /* in order of first use */
	code_edge_vec branches;
	code_edge_vec runs;
	struct map position_by;
	struct map branch_by;
	struct map run_by;
	uint64_t samples;
};

/* Frees the contents.  A zero-initialized structure is empty and ready for use. */
void code_counts_done(struct code_counts *c);
/* Returns the number of a new or existing position; MAP_NONE if memory is short. */
uint32_t code_counts_position(struct code_counts *c, uint32_t image, uint64_t offset);
/* Count one more branch or run between two positions.  Return 0 or -ENOMEM. */
int code_counts_branch(struct code_counts *c, uint32_t from, uint32_t to,
		       bool mispredicted);
int code_counts_run(struct code_counts *c, uint32_t from, uint32_t to);

/* How often a range of code of an image ran.  All runs are overlaid and split wherever one begins
 * or ends.  The resulting ranges are sorted by address and do not overlap. */
struct code_stretch {
	uint64_t first; /* offset of its first instruction */
	uint64_t last;  /* offset of its last instruction, or within it */
	uint64_t count;
};
typedef VEC(struct code_stretch) code_stretch_vec;
/* Appends the stretches of `image` to `out`.  Returns 0 or -ENOMEM. */
int code_counts_stretches(const struct code_counts *c, uint32_t image,
			  code_stretch_vec *out);
