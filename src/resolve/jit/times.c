/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/jit/times.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
	STARTS_MAX = 1024 /* limit for one address */
};

static int jit_times_compare(const void *a, const void *b)
{
	const struct jit_time *x = a;
	const struct jit_time *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Returns the time plus the shift, or 0 if that is negative. */
static uint64_t shifted(uint64_t time_ns, int64_t shift_ns)
{
	uint64_t by = (uint64_t)shift_ns;

	if (shift_ns < 0)
		return time_ns > -by ? time_ns + by : 0;
	return time_ns < UINT64_MAX - by ? time_ns + by : UINT64_MAX;
}

int jit_times_make(struct jit_times *t, const struct jitdump *dump, int64_t shift_ns)
{
	uint64_t top = 0;

	*t = (struct jit_times){ 0 };
	if (!dump->events.nr)
		return 0;
	t->at = calloc(dump->events.nr, sizeof(*t->at));
	if (!t->at)
		return -ENOMEM;
	t->nr = dump->events.nr;
	for (size_t i = 0; i < t->nr; i++) {
		const struct jitdump_event *e = &dump->events.at[i];

		t->at[i] = (struct jit_time){ .start = e->start,
					      .time_ns = shifted(e->time_ns, shift_ns),
					      .end = e->end,
					      .code = e->code,
					      .order = (uint32_t)i };
	}
	qsort(t->at, t->nr, sizeof(*t->at), jit_times_compare);
	for (size_t i = 0; i < t->nr; i++) {
		top = t->at[i].end > top ? t->at[i].end : top;
		t->at[i].top = top;
	}
	return 0;
}

void jit_times_done(struct jit_times *t)
{
	free(t->at);
	*t = (struct jit_times){ 0 };
}

/* Returns how many entries begin before `start`, or at it and not after `time_ns`. */
static size_t count_until(const struct jit_times *t, uint64_t start, uint64_t time_ns)
{
	size_t low = 0;
	size_t high = t->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct jit_time *at = &t->at[mid];

		if (at->start < start || (at->start == start && at->time_ns <= time_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns whether `a` came after `b`. */
static bool jit_times_is_later(const struct jit_time *a, const struct jit_time *b)
{
	return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->order > b->order;
}

struct jit_times_search {
	const struct jit_times *t;
	uint64_t address;
	uint64_t time_ns;
	const struct jit_time *last;  /* the latest code there at that time */
	const struct jit_time *first; /* otherwise, the first later code */
	struct jit_found found;
};

/* Checks all entries that begin where entry `last` does; `last` is the last of them. Returns the
 * number of entries that begin earlier. */
static size_t look_at_start(struct jit_times_search *s, size_t last)
{
	const struct jit_time *at = s->t->at;
	uint64_t start = at[last].start;
	size_t next = count_until(s->t, start, s->time_ns);
	size_t before = start ? count_until(s->t, start - 1, UINT64_MAX) : 0;

	if (next <= last && at[next].time_ns < s->found.to_ns)
		s->found.to_ns = at[next].time_ns;
	if (next > before) {
		const struct jit_time *now = &at[next - 1];

		if (now->time_ns > s->found.from_ns)
			s->found.from_ns = now->time_ns;
		if (s->address < now->end &&
		    (!s->last || jit_times_is_later(now, s->last)))
			s->last = now;
	}
	for (; next <= last && (!s->first || at[next].time_ns < s->first->time_ns);
	     next++)
		if (s->address < at[next].end) {
			s->first = &at[next];
			break;
		}
	return before;
}

struct jit_found jit_times_find(const struct jit_times *t, uint64_t address,
				uint64_t time_ns)
{
	struct jit_times_search s = { .t = t,
				      .address = address,
				      .time_ns = time_ns,
				      .found = { .code = JITDUMP_NO_CODE,
						 .to_ns = UINT64_MAX } };
	size_t nr = count_until(t, address, UINT64_MAX);
	const struct jit_time *it;

	for (int i = 0; i < STARTS_MAX && nr && t->at[nr - 1].top > address; i++)
		nr = look_at_start(&s, nr - 1);
	it = s.last ? s.last : s.first;
	if (it && it->code != JITDUMP_NO_CODE) {
		s.found.code = it->code;
		s.found.offset = address - it->start;
	}
	return s.found;
}
