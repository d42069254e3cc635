/* afdo_tree.h - the functions of a sample profile: counts at their lines, and what was inlined.
 * Layer: present.  Not thread safe.  That memory was short is remembered. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"

enum {
	AFDO_NONE = 0xffffffff
};

/* A place in a function: lines behind its first one, and which of the blocks of the line. */
struct afdo_at {
	uint32_t line;
	uint32_t block;
};

/* A function, or one inlined at a place of another. */
struct afdo_node {
	uint32_t parent; /* AFDO_NONE: not inlined */
	uint32_t name;
	struct afdo_at call;
	uint64_t head; /* how often it was called */
	uint64_t
		total; /* its own samples and those of what was inlined; by afdo_tree_write() */
};

struct afdo_spot {
	uint32_t node;
	struct afdo_at at;
	uint64_t count;
	uint64_t most; /* of the source at hand, which is not added yet */
};

struct afdo_target {
	uint32_t spot;
	uint32_t name;
	uint64_t count;
};

struct afdo_tree {
	struct strtab names;
	VEC(struct afdo_node) nodes; /* parents stand before their children */
	VEC(struct afdo_spot) spots;
	VEC(struct afdo_target) targets;
	struct map top_by; /* name */
	struct map node_by;
	struct map spot_by;
	struct map target_by;
	bool failed;
};

/* 0 or -ENOMEM. */
int afdo_tree_init(struct afdo_tree *t);
void afdo_tree_done(struct afdo_tree *t);
bool afdo_tree_failed(const struct afdo_tree *t);
size_t afdo_tree_nr_functions(const struct afdo_tree *t);

/* A place by what debug information says: what clang hides in a discriminator but the number of the
 * block is left out. */
struct afdo_at afdo_at(uint32_t line, uint32_t discriminator);
/* How many copies of the code at a place there are for one in the source: loops that were unrolled
 * or vectorized. */
uint64_t afdo_copies(uint32_t discriminator);

/* Each returns a number, old or new; AFDO_NONE: it cannot be written, or memory is short. */
uint32_t afdo_tree_name(struct afdo_tree *t, const char *symbol);
uint32_t afdo_tree_node(struct afdo_tree *t, uint32_t parent, struct afdo_at call,
			uint32_t name);
uint32_t afdo_tree_spot(struct afdo_tree *t, uint32_t node, struct afdo_at at);
void afdo_tree_add(struct afdo_tree *t, uint32_t spot, uint64_t count);
/* It has as many as this, in this source, if there was no more before. */
void afdo_tree_most(struct afdo_tree *t, uint32_t spot, uint64_t count);
/* `name` was called; from `spot`, unless that is AFDO_NONE.  0 or -ENOMEM. */
int afdo_tree_call(struct afdo_tree *t, uint32_t spot, uint32_t name, uint64_t count);
/* A source ends. */
void afdo_tree_settle(struct afdo_tree *t);
/* 0 or -ENOMEM.  The tree is of no other use then. */
int afdo_tree_write(struct afdo_tree *t, FILE *out);
