/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spans.h - sorts the spans of time that a call table of a timeline has in place of rows.
 * Layer: present. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/profile/profile.h"
#include "present/calls/table.h"

struct sort_key;

enum call_spans_order {
	SPANS_BY_WHO, /* then by time */
	SPANS_BY_TIME /* then by who */
};

struct call_spans {
	const struct call_table *t;
	const struct timeline *timeline;
	struct sort_key *keys; /* indices of spans, sorted */
	size_t nr;
};

struct call_span {
	uint32_t who;     /* index in t->whos */
	uint32_t bucket;  /* KEY_TIME, in units of the bucket width */
	uint32_t event;   /* index in t->events */
	uint32_t at, end; /* range of its entries, for call_spans_next() */
};

/* Makes the spans of a table, in the given order. Returns 0 or -ENOMEM.  Call call_spans_done() in
 * either case. */
int call_spans_make(struct call_spans *s, const struct call_table *t,
		    enum call_spans_order order);
void call_spans_done(struct call_spans *s);
/* Sorts the spans by keys[i].at, which the caller has set.  The sort is stable.  Returns 0 or
 * -ENOMEM. */
int call_spans_sort(struct call_spans *s);
/* Returns span `i` of s->nr. */
struct call_span call_spans_at(const struct call_spans *s, size_t i);

/* Returns the node of the next entry, and its number of samples in *ret_samples.  Several
 * entries can have the same node. */
static inline uint32_t call_spans_next(const struct call_spans *s,
				       struct call_span *span, uint32_t *ret_samples)
{
	return s->t->node_of[timeline_next(s->timeline, &span->at, ret_samples)];
}
