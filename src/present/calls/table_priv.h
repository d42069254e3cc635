/* table_priv.h - a call table while it is made.
 * Layer: present; private to calls/table.c and calls/table_rows.c. */
#pragma once
#include "aggregate/profile/profile.h"
#include "base/containers/pairs.h"
#include "present/calls/table.h"

/* `own` nodes are those of the profile with symbols for functions. */
struct call_making {
	struct call_table *t;
	struct profile *p;
	struct pairs symbol_by; /* (name, image): number, plus 1 */
	struct pairs line_by;   /* (symbol, line): likewise */
	struct pairs own_by;    /* (parent, symbol): likewise */
	VEC(struct call_place) own;
	uint32_t *symbol_of;    /* by function; DICT_NONE: not asked yet */
	uint32_t *own_of;       /* by node of the profile */
	uint32_t *own_of_tuple; /* by tuple of a place */
	uint8_t *kept;          /* by own node */
	uint32_t *place_of;     /* by own node: where it is in t->nodes */
	uint32_t *who_of;       /* by tuple: position in t->whos */
	size_t nr;              /* of t->rows, with those that are not in t->order */
	size_t stack_key;
	int line_key;       /* -1: there is none */
	VEC(uint64_t) keys; /* of the rows of a `who` */
	VEC(uint64_t) room;
	struct buf text;
};

/* Numbers that are all DICT_NONE, for the caller to free; NULL when memory is short. */
uint32_t *call_numbers(size_t nr);
/* The own node of a row. */
static inline uint32_t call_row_node(const struct call_making *m,
				     const struct profile_row *row)
{
	return m->own_of_tuple[m->p->groups.at[row->group].tuple[GROUP_WHERE]];
}
/* Each fills its part of m->t: `events`, and, when there are nodes, `whos` and `rows`, or what spans
 * need.  0 or -ENOMEM. */
int call_table_list_events(struct call_making *m);
int call_table_make_rows(struct call_making *m);
