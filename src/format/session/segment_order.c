/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/session/segment_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

static uint64_t segment_order_earliest(const struct sample_batch *b)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < b->nr; i++)
		if (b->time_ns[i] < least)
			least = b->time_ns[i];
	return least;
}

static void note_last(struct segment_order *o, const struct sample_batch *b)
{
	for (size_t i = 0; i < b->nr; i++)
		if (b->time_ns[i] > o->last_ns)
			o->last_ns = b->time_ns[i];
}

static int scan(struct segment_order *o, struct segment *s, struct err *err)
{
	for (;;) {
		struct sample_batch b;
		int r = segment_next(s, COLUMN_TIME, &b, err);

		if (r)
			return r < 0 ? r : 0;
		o->nr_samples += b.nr;
		note_last(o, &b);
		if (!vec_push(&o->least, segment_order_earliest(&b)))
			return err_set(err, -ENOMEM, "out of memory");
	}
}

int segment_order_scan(struct segment_order *o, const char *path, enum trust trust,
		       int (*visit)(void *ctx, const struct segment *s), void *ctx,
		       struct err *err)
{
	struct segment *s;
	int r;

	*o = (struct segment_order){ .first_ns = UINT64_MAX,
				     .path = strdup(path),
				     .trust = trust };
	if (!o->path)
		return err_set(err, -ENOMEM, "out of memory");
	r = segment_open(path, trust, &s, err);
	if (r)
		return r;
	r = scan(o, s, err);
	for (size_t i = o->least.nr; i-- > 0;) {
		if (o->least.at[i] < o->first_ns)
			o->first_ns = o->least.at[i];
		o->least.at[i] = o->first_ns;
	}
	if (!r && visit) {
		r = visit(ctx, s);
		if (r)
			err_sys(err, r, "cannot read '%s'", path);
	}
	segment_close(s);
	return r;
}

int segment_order_open(struct segment_order *o, struct err *err)
{
	o->nr_batches = 0;
	o->waiting.nr = 0;
	o->given = 0;
	return segment_open(o->path, o->trust, &o->segment, err);
}

/* Returns the time before which all samples have been read. */
static uint64_t frontier(const struct segment_order *o)
{
	return o->nr_batches < o->least.nr ? o->least.at[o->nr_batches] : UINT64_MAX;
}

static int segment_order_add_batch(struct segment_order *o,
				   const struct sample_batch *b, uint64_t *earliest_ns)
{
	for (size_t i = 0; i < b->nr; i++) {
		const struct sample s = sample_batch_at(b, i);

		if (!vec_push(&o->waiting, s))
			return -ENOMEM;
		if (s.time_ns < *earliest_ns)
			*earliest_ns = s.time_ns;
	}
	return 0;
}

/* Merges two sorted runs; part of a merge sort, because the input consists mostly of sorted runs,
 * and samples with equal times must keep their order. */
static void segment_order_merge(struct sample *from, struct sample *to, size_t a,
				size_t b, size_t c)
{
	size_t left = a, right = b;

	for (size_t i = a; i < c; i++) {
		bool take_left =
			left < b &&
			(right >= c || from[left].time_ns <= from[right].time_ns);

		to[i] = from[take_left ? left++ : right++];
	}
}

static bool is_sorted(const struct sample *s, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (s[i].time_ns < s[i - 1].time_ns)
			return false;
	return true;
}

static int segment_order_sort(struct sample *s, size_t nr)
{
	struct sample *other, *from = s, *to;

	if (is_sorted(s, nr))
		return 0;
	other = malloc(nr * sizeof(*other));
	if (!other)
		return -ENOMEM;
	to = other;
	for (size_t width = 1; width < nr; width *= 2) {
		struct sample *sorted = to;

		for (size_t a = 0; a < nr; a += 2 * width) {
			size_t b = a + width < nr ? a + width : nr;
			size_t c = b + width < nr ? b + width : nr;

			segment_order_merge(from, to, a, b, c);
		}
		to = from;
		from = sorted;
	}
	if (from != s)
		memcpy(s, from, nr * sizeof(*s));
	free(other);
	return 0;
}

/* Reads until the earliest waiting sample can be returned. Returns 0 or a negative errno. */
static int refill(struct segment_order *o, struct err *err)
{
	uint64_t earliest_ns = UINT64_MAX;
	size_t nr = o->waiting.nr - o->given;

	if (nr)
		memmove(o->waiting.at, o->waiting.at + o->given,
			nr * sizeof(*o->waiting.at));
	o->waiting.nr = nr;
	o->given = 0;
	if (nr)
		earliest_ns = o->waiting.at[0].time_ns;
	/* The first pass has counted the batches; ignore those that were appended to the file
	 * since. */
	while (o->nr_batches < o->least.nr && earliest_ns >= frontier(o)) {
		struct sample_batch b;
		int r = segment_next(o->segment, COLUMN_ALL, &b, err);

		if (r < 0)
			return r;
		o->nr_batches = r ? o->least.nr : o->nr_batches + 1;
		if (!r && segment_order_add_batch(o, &b, &earliest_ns))
			return err_set(err, -ENOMEM, "out of memory");
	}
	return segment_order_sort(o->waiting.at, o->waiting.nr)
		       ? err_set(err, -ENOMEM, "out of memory")
		       : 0;
}

int segment_order_next(struct segment_order *o, struct sample *ret_sample,
		       struct err *err)
{
	if ((o->given >= o->waiting.nr ||
	     o->waiting.at[o->given].time_ns >= frontier(o)) &&
	    o->nr_batches < o->least.nr) {
		int r = refill(o, err);

		if (r)
			return r;
	}
	if (o->given >= o->waiting.nr)
		return 1;
	*ret_sample = o->waiting.at[o->given++];
	return 0;
}

void segment_order_close(struct segment_order *o)
{
	segment_close(o->segment);
	o->segment = NULL;
	vec_done(&o->waiting);
	o->given = 0;
}

void segment_order_done(struct segment_order *o)
{
	segment_order_close(o);
	vec_done(&o->least);
	free(o->path);
	o->path = NULL;
}
