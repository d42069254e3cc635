/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/profile/call_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"

static void call_sums_add_rows(struct call_sums *s, const struct profile *p,
			       const uint32_t *column_of)
{
	for (size_t i = 0; i < p->rows.nr; i++) {
		const struct profile_row *row = &p->rows.at[i];
		size_t column = column_of ? column_of[i] : row->event;
		uint32_t node = profile_node(p, row->group);
		struct call_sum *sum = &s->sums[node * s->nr_columns + column];

		sum->self += row->samples;
		sum->self_period += row->period;
	}
}

/* Adds a node to its caller, whose number is lower.  Returns true if the node has samples. */
static bool add_to_caller(struct call_sums *s, uint32_t node, uint32_t caller)
{
	struct call_sum *to = &s->sums[caller * s->nr_columns];
	struct call_sum *from = &s->sums[node * s->nr_columns];
	bool any = false;

	for (size_t c = 0; c < s->nr_columns; c++) {
		from[c].samples += from[c].self;
		from[c].period += from[c].self_period;
		any |= from[c].samples != 0;
		if (caller == node)
			continue;
		to[c].samples += from[c].samples;
		to[c].period += from[c].period;
	}
	return any;
}

int call_sums_make(struct call_sums *s, const struct profile *p,
		   const uint32_t *column_of, size_t nr_columns)
{
	const struct call_node *nodes = p->calls.nodes.at;
	size_t nr = p->calls.nodes.nr < CALL_FIRST ? CALL_FIRST : p->calls.nodes.nr;

	*s = (struct call_sums){ .nr_nodes = nr, .nr_columns = nr_columns };
	s->sums = calloc(nr * nr_columns + 1, sizeof(*s->sums));
	s->first = malloc(nr * sizeof(*s->first));
	s->next = malloc(nr * sizeof(*s->next));
	if (!s->sums || !s->first || !s->next)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		s->first[i] = s->next[i] = DICT_NONE;
	call_sums_add_rows(s, p, column_of);
	/* Callees have higher numbers, so this sums them up first. */
	for (uint32_t n = (uint32_t)nr; n-- > 0;) {
		uint32_t caller = n < CALL_FIRST ? n : nodes[n].caller;

		if (!add_to_caller(s, n, caller) || caller == n)
			continue;
		s->next[n] = s->first[caller];
		s->first[caller] = n;
	}
	return 0;
}

void call_sums_done(struct call_sums *s)
{
	free(s->sums);
	free(s->first);
	free(s->next);
	*s = (struct call_sums){ 0 };
}
