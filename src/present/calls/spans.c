/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/calls/spans.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/huge.h"
#include "base/containers/sort_keys.h"

enum {
	FIRST_SHIFT = 32
};

static uint64_t call_spans_key_of(const struct call_spans *s,
				  const struct timeline_span *span,
				  enum call_spans_order order)
{
	uint64_t who = s->t->who_of[span->track], bucket = span->bucket;

	return order == SPANS_BY_WHO ? who << FIRST_SHIFT | bucket
				     : bucket << FIRST_SHIFT | who;
}

int call_spans_make(struct call_spans *s, const struct call_table *t,
		    enum call_spans_order order)
{
	*s = (struct call_spans){ .t = t,
				  .timeline = &t->p->timeline,
				  .nr = t->p->timeline.spans.nr };
	s->keys = huge_alloc((s->nr + 1) * sizeof(*s->keys));
	if (!s->keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nr; i++)
		s->keys[i] = (struct sort_key){
			call_spans_key_of(s, &s->timeline->spans.at[i], order), i
		};
	return call_spans_sort(s);
}

void call_spans_done(struct call_spans *s)
{
	free(s->keys);
	*s = (struct call_spans){ 0 };
}

int call_spans_sort(struct call_spans *s)
{
	return sort_keys(&s->keys, s->nr);
}

struct call_span call_spans_at(const struct call_spans *s, size_t i)
{
	uint32_t number = s->keys[i].index;
	const struct timeline_span *span = &s->timeline->spans.at[number];
	const struct timeline_track *track = &s->timeline->tracks.at[span->track];

	return (struct call_span){ .who = s->t->who_of[span->track],
				   .bucket = span->bucket,
				   .event = s->t->event_at[track->what],
				   .at = span->at,
				   .end = timeline_span_end(s->timeline, number) };
}
