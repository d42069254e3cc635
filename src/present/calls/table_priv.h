/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table_priv.h - the state of a call table while it is built.
 * Layer: present; private to calls/table.c and calls/table_rows.c. */
#pragma once
#include "aggregate/profile/profile.h"
#include "base/containers/pairs.h"
#include "present/calls/table.h"

/* The nodes `own` are the nodes of the profile, with symbols in place of functions. Nodes with the
 * same parent and symbol are one node. */
struct call_making {
	struct call_table *t;
	struct profile *p;
	struct pairs symbol_by; /* (name, image): number + 1 */
	struct pairs line_by;   /* (symbol, line): number + 1 */
	struct pairs own_by;    /* (parent, symbol): number + 1 */
	VEC(struct call_tree_node) own;
	uint32_t *symbol_of;    /* by function; DICT_NONE: not looked up yet */
	uint32_t *own_of;       /* by node of the profile */
	uint32_t *own_of_tuple; /* by tuple of GROUP_WHERE */
	uint8_t *kept;          /* by own node */
	uint32_t *position_of;  /* by own node: index in t->nodes */
	uint32_t *who_of;       /* by tuple: index in t->whos */
	size_t nr; /* length of t->rows, including the rows that t->order does not
				 * contain */
	size_t stack_key;
	int line_key;       /* -1: not requested */
	VEC(uint64_t) keys; /* of the rows of a `who` */
	VEC(uint64_t) room;
	struct buf text;
};

/* Returns an array of `nr` elements, all DICT_NONE, which the caller frees; NULL if memory is
 * short. */
uint32_t *call_numbers(size_t nr);
/* Returns the node of a row in m->own. */
static inline uint32_t call_row_node(const struct call_making *m,
				     const struct profile_row *row)
{
	return m->own_of_tuple[m->p->groups.at[row->group].tuple[GROUP_WHERE]];
}
/* Fill m->t: the first function fills `events`; the second one, which needs the nodes, fills `whos`
 * and `rows`, or the indices of spans.  Both return 0 or -ENOMEM. */
int call_table_list_events(struct call_making *m);
int call_table_make_rows(struct call_making *m);
