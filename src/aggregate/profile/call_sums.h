/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_sums.h - the samples of each node of a call tree, without and with its callees.
 * Layer: aggregate.  To walk over a tree:
 *   call_sums_make(&s, p, NULL, p->events.nr);
 *   for (uint32_t n = s.first[CALL_ROOT]; n != DICT_NONE; n = s.next[n])
 *           p->calls.nodes.at[n].function, *call_sums_at(&s, n, event), ...
 * An inlined function (profile_function.kind) is a child of the function that contains it.
 * Callees of a node are ordered by number, which is the order in which they were first seen. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;

struct call_sum {
	uint64_t self; /* samples */
	uint64_t self_period;
	uint64_t samples; /* including callees */
	uint64_t period;
};

struct call_sums {
	struct call_sum *sums; /* by node, then column */
	uint32_t *first; /* by node: its first callee with samples, or DICT_NONE */
	uint32_t *next;  /* by node: the next callee of its caller, or DICT_NONE */
	size_t nr_nodes;
	size_t nr_columns;
};

/* Sums up a profile with options.calls. `column_of` has the column of each row, which is below
 * nr_columns; NULL: the column is the row's event. The roots are CALL_ROOT (complete stacks) and
 * CALL_TRUNCATED. Returns 0 or -ENOMEM. Call call_sums_done() in either case. */
int call_sums_make(struct call_sums *s, const struct profile *p,
		   const uint32_t *column_of, size_t nr_columns);
void call_sums_done(struct call_sums *s);

static inline const struct call_sum *call_sums_at(const struct call_sums *s,
						  uint32_t node, size_t column)
{
	return &s->sums[node * s->nr_columns + column];
}
