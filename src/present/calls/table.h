/* table.h - the stacks of a profile as graphs and exports need them: who called whom as a
 * tree in a fixed order, and the counts at its nodes.
 * Layer: present.  The profile has KEY_STACK among its keys; what else is grouped by is "who".
 * The order depends on names alone, not on where the samples are from.  The profile's rows are used
 * up: there are as many as samples in the finest of exports, and fresh memory is cleared first. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/containers/vec.h"

struct profile;

/* A function as graphs tell them apart: by name and image. */
struct call_symbol {
	uint32_t name;     /* string of the profile; code without a name: "[image]" */
	uint32_t image;    /* of the profile; DICT_NONE: "[truncated]" */
	uint32_t function; /* one of the profile's; DICT_NONE likewise */
	uint32_t rank;     /* position by name */
	/* With options.call_lines there is one for each line, a string of the profile, and one
	 * with DICT_NONE, which is `whole` of them all.  Else there are but such. */
	uint32_t line;
	uint32_t whole;
};

/* Nodes stand in front of what they call, which follows at once; siblings by name. */
struct call_place {
	uint32_t parent; /* node; of node 0, the root, itself */
	uint32_t symbol; /* DICT_NONE: the root */
};

struct call_row {
	uint32_t who;  /* position in `whos` */
	uint32_t node; /* the innermost function of the stack */
	uint32_t event;
	uint32_t
		line; /* with KEY_LINE: of the innermost frame, a string of the profile */
	uint64_t samples;
	uint64_t period;
};

struct call_table {
	struct profile *p;
	VEC(struct call_symbol) symbols;
	VEC(struct call_place) nodes;
	VEC(uint32_t)
	whos; /* a group of each, for profile_value(); in the order of the keys */
	struct call_row *rows; /* in any order: call_row_at() */
	uint32_t *order; /* of rows: by who, node, line, event; none is there twice */
	size_t nr_rows;
	VEC(uint32_t) events; /* those with samples, by rank */
	uint32_t *event_at;   /* by event of the profile: position in `events` */
	/* Of a profile with options.timeline there are no rows but spans (calls/spans.h): */
	uint32_t *node_of; /* by tuple of a place: its node */
	uint32_t *who_of;  /* by track: position in `whos` */
};

/* Number `i` of t->nr_rows. */
static inline const struct call_row *call_row_at(const struct call_table *t, size_t i)
{
	return &t->rows[t->order[i]];
}

/* Calls of functions that have, with what they called, less than `threshold` percent of an
 * event are their callers': nothing is left out of the sums.  `t` is zero before.  0 or
 * -ENOMEM; call_table_done() is called in either case. */
int call_table_make(struct call_table *t, struct profile *p, double threshold);
void call_table_done(struct call_table *t);

/* Texts that live as long as the profile. */
const char *call_symbol_name(const struct call_table *t, uint32_t symbol);
const char *call_symbol_image(const struct call_table *t,
			      uint32_t symbol); /* "": none */
/* Whether it is code of a kernel. */
bool call_symbol_in_kernel(const struct call_table *t, uint32_t symbol);
/* Sums at each node with all that it called, of one event (position in t->events); an array for
 * the caller to free, NULL when memory is short. */
uint64_t *call_table_inclusive(const struct call_table *t, uint32_t event);
