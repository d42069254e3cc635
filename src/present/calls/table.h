/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - prepares the stacks of a profile for graphs and exports: the call tree in a fixed
 * order, and the counts at its nodes.
 * Layer: present. The profile must have KEY_STACK among its keys; a "who" is a combination of
 * values of its other keys, such as a thread. The order depends only on names, not on the source of
 * the samples. call_table_make() consumes the profile's rows and reuses their memory, because an
 * export can have as many rows as samples. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct profile;

/* A function of graphs. Functions of the same name and image are one symbol. */
struct call_symbol {
	uint32_t name;  /* string of the profile; unnamed code: "[image]" */
	uint32_t image; /* of the profile; DICT_NONE: "[truncated]" */
	/* A function of the profile with this name and image; or DICT_NONE. */
	uint32_t function;
	uint32_t rank; /* position by name */
	/* With options.call_lines there is a symbol for each line (a string of the profile), and
	 * one for the whole function with line DICT_NONE, to which `whole` of the others refers.
	 * Without options.call_lines, every symbol has the line DICT_NONE. */
	uint32_t line;
	uint32_t whole;
};

/* Each node is followed directly by its callees; siblings are sorted by name. */
struct call_tree_node {
	uint32_t parent; /* node; the root, node 0, is its own parent */
	uint32_t symbol; /* DICT_NONE: the root */
};

struct call_row {
	uint32_t who;  /* index in `whos` */
	uint32_t node; /* the innermost function of the stack */
	uint32_t event;
	/* With KEY_LINE: line of the innermost frame, a string of the profile. */
	uint32_t line;
	uint64_t samples;
	uint64_t period;
};

struct call_table {
	struct profile *p;
	VEC(struct call_symbol) symbols;
	VEC(struct call_tree_node) nodes;
	VEC(uint32_t)
	whos; /* one group for each distinct `who`, for profile_value(); sorted by the keys */
	struct call_row *rows; /* unsorted: use call_row_at() */
	/* Indices of rows, sorted by who, node, line, event; no duplicates. */
	uint32_t *order;
	size_t nr_rows;
	VEC(uint32_t) events; /* those with samples, by rank */
	uint32_t *event_at;   /* by event of the profile: index in `events` */
	/* With options.timeline there are spans (calls/spans.h) in place of rows: */
	uint32_t *node_of; /* by tuple of GROUP_WHERE: its node */
	uint32_t *who_of;  /* by track: index in `whos` */
};

/* Returns row `i` of t->nr_rows. */
static inline const struct call_row *call_row_at(const struct call_table *t, size_t i)
{
	return &t->rows[t->order[i]];
}

/* Builds the table.  A node that has, with its callees, less than `threshold` percent of every
 * event is merged into its caller, so sums stay complete.  `t` must be zeroed before.  Returns 0
 * or -ENOMEM.  Call call_table_done() in either case. */
int call_table_make(struct call_table *t, struct profile *p, double threshold);
void call_table_done(struct call_table *t);

/* Return the texts of a symbol, which live as long as the profile. */
const char *call_symbol_name(const struct call_table *t, uint32_t symbol);
const char *call_symbol_image(const struct call_table *t,
			      uint32_t symbol); /* "": none */
/* Returns true if the symbol is code of a kernel. */
bool call_symbol_in_kernel(const struct call_table *t, uint32_t symbol);
/* Returns the samples of each node including callees, for an event (index in t->events).  The
 * caller frees the array.  Returns NULL if memory is short. */
uint64_t *call_table_inclusive(const struct call_table *t, uint32_t event);
