/* SPDX-License-Identifier: GPL-2.0-or-later */
/* afdo_tree.h - the functions of a sample profile: counts by line, and inlined functions.
 * Layer: present. Not thread safe. If memory is short, afdo_tree_failed() returns true from then
 * on. */
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

/* A position in a function: line relative to its first line, and basic block within the line. */
struct afdo_at {
	uint32_t line;
	uint32_t block;
};

/* A function, or a function inlined at a position of another one. */
struct afdo_node {
	uint32_t parent; /* AFDO_NONE: not inlined */
	uint32_t name;
	struct afdo_at call;
	uint64_t head; /* number of calls */
	/* Samples including inlined functions; set by afdo_tree_write(). */
	uint64_t total;
};

struct afdo_spot {
	uint32_t node;
	struct afdo_at at;
	uint64_t count;
	/* Maximum count of the current source (afdo_tree_most()); afdo_tree_settle() adds it to
	 * `count`. */
	uint64_t most;
};

struct afdo_target {
	uint32_t spot;
	uint32_t name;
	uint64_t count;
};

struct afdo_tree {
	struct strtab names;
	VEC(struct afdo_node) nodes; /* parents precede their children */
	VEC(struct afdo_spot) spots;
	VEC(struct afdo_target) targets;
	struct map top_by; /* by name */
	struct map node_by;
	struct map spot_by;
	struct map target_by;
	bool failed;
};

/* Makes an empty tree. Returns 0 or -ENOMEM. Call afdo_tree_done() in either case. */
int afdo_tree_init(struct afdo_tree *t);
void afdo_tree_done(struct afdo_tree *t);
bool afdo_tree_failed(const struct afdo_tree *t);
size_t afdo_tree_nr_functions(const struct afdo_tree *t);

/* Returns the position for a line and discriminator of debug information.  Of a discriminator made
 * by clang, only the block number is used. */
struct afdo_at afdo_at(uint32_t line, uint32_t discriminator);
/* Returns how many copies of the source code exist at a position, because of loop unrolling or
 * vectorization. */
uint64_t afdo_copies(uint32_t discriminator);

/* Each returns the number of a new or existing element, or AFDO_NONE if it cannot be written or
 * memory is short. */
uint32_t afdo_tree_name(struct afdo_tree *t, const char *symbol);
uint32_t afdo_tree_node(struct afdo_tree *t, uint32_t parent, struct afdo_at call,
			uint32_t name);
uint32_t afdo_tree_spot(struct afdo_tree *t, uint32_t node, struct afdo_at at);
void afdo_tree_add(struct afdo_tree *t, uint32_t spot, uint64_t count);
/* Raises the spot's count in the current source to at least `count`, until
 * afdo_tree_settle(). For counts of instructions: a line ran as often as its most frequent
 * instruction. */
void afdo_tree_most(struct afdo_tree *t, uint32_t spot, uint64_t count);
/* Counts calls of `name` from `spot`, unless that is AFDO_NONE.  Returns 0 or -ENOMEM. */
int afdo_tree_call(struct afdo_tree *t, uint32_t spot, uint32_t name, uint64_t count);
/* Ends the current source: adds the counts of afdo_tree_most() to the tree. */
void afdo_tree_settle(struct afdo_tree *t);
/* Writes the profile; do not use the tree afterwards.  Returns 0 or -ENOMEM. */
int afdo_tree_write(struct afdo_tree *t, FILE *out);
