/* code_counts.h - how often code ran, by its place in images: samples, and what branch stacks
 * tell.  For profiles that compilers and linkers read, which want places, not names.
 * Layer: aggregate.  Memory grows with what is distinct. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"

/* A place in code: offset as in struct frame (format/session/dict.h). */
struct code_place {
	uint32_t image;
	uint64_t offset;
	uint64_t samples; /* that were taken here */
};

/* A branch that was taken, or what ran in a line: from a branch's target up to and with the next
 * branch. */
struct code_edge {
	uint32_t from; /* positions in `places` */
	uint32_t to;
	uint64_t count;
	uint64_t mispredicted; /* of branches */
};

typedef VEC(struct code_edge) code_edge_vec;

struct code_counts {
	VEC(struct code_place) places; /* in order of first use */
	code_edge_vec branches;
	code_edge_vec runs;
	struct map place_by;
	struct map branch_by;
	struct map run_by;
	uint64_t samples;
};

/* One to be filled is all zero. */
void code_counts_done(struct code_counts *c);
/* The place's number, old or new; MAP_NONE when memory is short. */
uint32_t code_counts_place(struct code_counts *c, uint32_t image, uint64_t offset);
/* One more.  0 or -ENOMEM. */
int code_counts_branch(struct code_counts *c, uint32_t from, uint32_t to,
		       bool mispredicted);
int code_counts_run(struct code_counts *c, uint32_t from, uint32_t to);

/* How often each stretch of an image's code ran: runs laid on each other, cut where one begins or
 * ends.  By address, no two overlap. */
struct code_stretch {
	uint64_t first; /* offsets, ... */
	uint64_t last;  /* ... of the instruction that this is or that ends here */
	uint64_t count;
};
typedef VEC(struct code_stretch) code_stretch_vec;
/* Adds those of `image` to `out`.  0 or -ENOMEM. */
int code_counts_stretches(const struct code_counts *c, uint32_t image,
			  code_stretch_vec *out);
