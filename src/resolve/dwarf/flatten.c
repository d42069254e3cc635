/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/dwarf/flatten.h"

#include <errno.h>
#include <stdlib.h>

#include "resolve/dwarf/scopes.h"

enum {
	MOVES_EACH = 8
};

static int dwarf_flatten_by_low(const void *a, const void *b)
{
	const struct dwarf_scope_range *x = a;
	const struct dwarf_scope_range *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

/* Sorts the ranges by insertion. Compilers write functions and their contents nearly sorted by
 * address, so moving the few exceptions is faster than a full sort. Returns false if there are too
 * many. */
static bool sort_by_moving(struct dwarf_scope_range *at, size_t nr)
{
	size_t moves_left = nr * MOVES_EACH;

	for (size_t i = 1; i < nr; i++) {
		struct dwarf_scope_range range = at[i];
		size_t k = i;

		while (k && dwarf_flatten_by_low(&at[k - 1], &range) > 0) {
			if (!moves_left--) {
				at[k] = range;
				return false;
			}
			at[k] = at[k - 1];
			k--;
		}
		at[k] = range;
	}
	return true;
}

/* Adds to a heap with the innermost open range on top. That nearly always is the last one
 * added, so the heap works like a stack. */
static int dwarf_flatten_heap_push(struct dwarf_scopes *s, struct dwarf_scope_range r)
{
	size_t i = s->heap.nr;

	if (!vec_push(&s->heap, r))
		return -ENOMEM;
	while (i) {
		size_t up = (i - 1) / 2;

		if (s->heap.at[up].scope >= r.scope)
			break;
		s->heap.at[i] = s->heap.at[up];
		i = up;
	}
	s->heap.at[i] = r;
	return 0;
}

static void dwarf_flatten_heap_pop(struct dwarf_scopes *s)
{
	struct dwarf_scope_range last = s->heap.at[--s->heap.nr];
	size_t nr = s->heap.nr;
	size_t i = 0;

	for (size_t down = 1; down < nr; down = 2 * i + 1) {
		if (down + 1 < nr &&
		    s->heap.at[down + 1].scope > s->heap.at[down].scope)
			down++;
		if (s->heap.at[down].scope <= last.scope)
			break;
		s->heap.at[i] = s->heap.at[down];
		i = down;
	}
	if (nr)
		s->heap.at[i] = last;
}

/* Adds a span: from `addr` on, the top of the heap is the innermost scope. */
static int put_span(struct dwarf_scopes *s, uint64_t addr)
{
	uint32_t scope = s->heap.nr ? s->heap.at[0].scope : DWARF_NO_SCOPE;
	struct dwarf_span span = { addr, scope };

	if (s->spans.nr) {
		struct dwarf_span *last = &s->spans.at[s->spans.nr - 1];

		if (last->addr == addr) {
			last->scope = scope;
			return 0;
		}
		if (last->scope == scope)
			return 0;
	}
	return vec_push(&s->spans, span) ? 0 : -ENOMEM;
}

/* Closes all ranges that end at or before `limit`. */
static int close_until(struct dwarf_scopes *s, uint64_t limit)
{
	while (s->heap.nr && s->heap.at[0].high <= limit) {
		uint64_t at = s->heap.at[0].high;
		int r;

		while (s->heap.nr && s->heap.at[0].high <= at)
			dwarf_flatten_heap_pop(s);
		r = put_span(s, at);
		if (r)
			return r;
	}
	return 0;
}

int dwarf_flatten(struct dwarf_scopes *s)
{
	int r = 0;

	s->heap.nr = 0;
	if (s->ranges.nr && !sort_by_moving(s->ranges.at, s->ranges.nr))
		qsort(s->ranges.at, s->ranges.nr, sizeof(*s->ranges.at),
		      dwarf_flatten_by_low);
	for (size_t i = 0; !r && i < s->ranges.nr; i++) {
		r = close_until(s, s->ranges.at[i].low);
		if (!r)
			r = dwarf_flatten_heap_push(s, s->ranges.at[i]);
		if (!r)
			r = put_span(s, s->ranges.at[i].low);
	}
	return r ? r : close_until(s, ~(uint64_t)0);
}
