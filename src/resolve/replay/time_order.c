/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "resolve/replay/time_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int time_order_add(struct time_order *o, const struct timed_record *record)
{
	size_t nr = o->records.nr;
	bool is_last =
		nr == o->next || o->records.at[nr - 1].time_ns <= record->time_ns;

	if (!vec_push(&o->records, *record))
		return -ENOMEM;
	o->is_sorted = is_last && (o->is_sorted || nr == o->next);
	return 0;
}

void time_order_unadd(struct time_order *o)
{
	o->records.nr--;
}

/* Returns the end of the sorted run that begins at `from`. */
static size_t run_end(const struct timed_record *records, size_t from, size_t nr)
{
	while (++from < nr && records[from - 1].time_ns <= records[from].time_ns)
		;
	return from;
}

/* Merges two adjacent runs into `to`. For the same time, the records of the first run come
 * first. */
static void merge_two(const struct timed_record *a, const struct timed_record *end_a,
		      const struct timed_record *end_b, struct timed_record *to)
{
	const struct timed_record *b = end_a;

	while (a < end_a && b < end_b)
		*to++ = b->time_ns < a->time_ns ? *b++ : *a++;
	memcpy(to, a, (size_t)(end_a - a) * sizeof(*a));
	to += end_a - a;
	memcpy(to, b, (size_t)(end_b - b) * sizeof(*b));
}

/* Merges pairs of adjacent runs of `from` into `to`. Returns the number of runs in `to`. */
static size_t merge_runs(const struct timed_record *from, struct timed_record *to,
			 size_t nr)
{
	size_t merged = 0;

	for (size_t at = 0; at < nr; merged++) {
		size_t middle = run_end(from, at, nr);
		size_t end = middle < nr ? run_end(from, middle, nr) : nr;

		merge_two(from + at, from + middle, from + end, to + at);
		at = end;
	}
	return merged;
}

static void drop_taken(struct time_order *o)
{
	size_t left = time_order_waiting(o);

	if (!o->next)
		return;
	if (left)
		memmove(o->records.at, o->records.at + o->next,
			left * sizeof(*o->records.at));
	o->records.nr = left;
	o->next = 0;
}

/* Sorts the records by merging their ascending runs, of which there are few: one for each CPU's
 * ring. */
int time_order_sort(struct time_order *o)
{
	size_t runs, nr = time_order_waiting(o);

	if (!o->is_sorted || o->next > nr)
		drop_taken(o);
	if (o->is_sorted || !nr)
		return 0;
	do {
		__typeof__(o->records) from = o->records, to = { 0 };

		if (!vec_reserve(&to, nr))
			return -ENOMEM;
		runs = merge_runs(from.at, to.at, nr);
		to.nr = nr;
		o->records = to;
		vec_done(&from);
	} while (runs > 1);
	o->is_sorted = true;
	return 0;
}

const struct timed_record *time_order_take(struct time_order *o, uint64_t until_ns)
{
	if (o->next == o->records.nr || o->records.at[o->next].time_ns > until_ns)
		return NULL;
	return &o->records.at[o->next++];
}

void time_order_done(struct time_order *o)
{
	vec_done(&o->records);
	*o = (struct time_order){ 0 };
}
