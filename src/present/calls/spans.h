/* spans.h - what a call table of a timeline has in place of rows: spans of time, in order.
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
	struct sort_key *keys; /* numbers of spans, in order */
	size_t nr;
};

struct call_span {
	uint32_t who;     /* position in t->whos */
	uint32_t bucket;  /* KEY_TIME, in widths of the key */
	uint32_t event;   /* position in t->events */
	uint32_t at, end; /* its entries: call_spans_next() */
};

/* 0 or -ENOMEM; call_spans_done() is called in either case. */
int call_spans_make(struct call_spans *s, const struct call_table *t,
		    enum call_spans_order order);
void call_spans_done(struct call_spans *s);
/* Another order: keys[i].at is given for each, and those alike stay as they are.  0 or -ENOMEM. */
int call_spans_sort(struct call_spans *s);
/* Number `i` of s->nr. */
struct call_span call_spans_at(const struct call_spans *s, size_t i);

/* The node of the next entry, of which there may be several with that node, and how many samples
 * it has. */
static inline uint32_t call_spans_next(const struct call_spans *s,
				       struct call_span *span, uint32_t *ret_samples)
{
	return s->t->node_of[timeline_next(s->timeline, &span->at, ret_samples)];
}
