/* call_sums.h - the samples of each node of a call tree: its own, and those of all it called.
 * Layer: aggregate.  To walk over a tree:
 *
 *	call_sums_make(&s, p, NULL, p->events.nr);
 *	for (uint32_t n = s.first[CALL_ROOT]; n != DICT_NONE; n = s.next[n])
 *		p->calls.nodes.at[n].function, *call_sums_at(&s, n, event), ...
 *
 * A function that was inlined (profile_function.kind) is the child of what it became part of.
 * Callees of a node stand in the order of their numbers: as they were first met. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct profile;

struct call_sum {
	uint64_t self; /* samples */
	uint64_t self_period;
	uint64_t samples; /* with all that was called */
	uint64_t period;
};

struct call_sums {
	struct call_sum *sums; /* by node, then column */
	uint32_t *first; /* by node: its first callee that has samples, or DICT_NONE */
	uint32_t *next;  /* by node: the next callee of its caller, or DICT_NONE */
	size_t nr_nodes;
	size_t nr_columns;
};

/* Of a profile with options.calls.  `column_of`: of each row, below nr_columns; NULL: its event.
 * CALL_ROOT and CALL_TRUNCATED are the roots: whole stacks and those cut short.  0 or -ENOMEM;
 * call_sums_done() is called in either case. */
int call_sums_make(struct call_sums *s, const struct profile *p,
		   const uint32_t *column_of, size_t nr_columns);
void call_sums_done(struct call_sums *s);

static inline const struct call_sum *call_sums_at(const struct call_sums *s,
						  uint32_t node, size_t column)
{
	return &s->sums[node * s->nr_columns + column];
}
