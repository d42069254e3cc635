#include "tools/side_band.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int side_band_add(struct side_band *s, const struct record *rec, const void *record,
		  size_t len)
{
	const struct side_band_entry entry = { .offset = s->bytes.len,
					       .len = (uint32_t)len,
					       .time_ns = rec->id.time_ns };

	if (rec->type == PERF_RECORD_LOST)
		s->lost += rec->lost.lost;
	buf_put(&s->bytes, record, len);
	if (s->bytes.failed || !vec_push(&s->entries, entry))
		return -ENOMEM;
	return 0;
}

/* At equal times the order of arrival holds: the entries' offsets grow with it. */
static int by_time(const void *a, const void *b)
{
	const struct side_band_entry *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Moves what is left to the front, so that the buffer does not grow for ever. */
static void compact(struct side_band *s, size_t first)
{
	struct buf rest = { 0 };

	for (size_t i = first; i < s->entries.nr; i++) {
		struct side_band_entry *e = &s->entries.at[i];
		size_t offset = rest.len;

		buf_put(&rest, s->bytes.data + e->offset, e->len);
		if (rest.failed) {
			buf_done(&rest);
			return;
		}
		e->offset = offset;
		s->entries.at[i - first] = *e;
	}
	s->entries.nr -= first;
	if (!s->entries.nr) {
		buf_clear(&s->bytes); /* keeps its memory for the next round */
		buf_done(&rest);
		return;
	}
	buf_done(&s->bytes);
	s->bytes = rest;
}

int side_band_apply(struct side_band *s, const struct decoder *d, struct resolver *r,
		    uint64_t frontier_ns)
{
	size_t i = 0;
	int result = 0;

	if (!s->entries.nr)
		return 0;
	qsort(s->entries.at, s->entries.nr, sizeof(*s->entries.at), by_time);
	for (; i < s->entries.nr && s->entries.at[i].time_ns <= frontier_ns && !result;
	     i++) {
		const struct side_band_entry *e = &s->entries.at[i];
		struct record rec;

		if (!decoder_record(d, s->bytes.data + e->offset, e->len, &rec, NULL))
			result = resolver_side_band(r, &rec);
	}
	compact(s, i);
	return result;
}

void side_band_done(struct side_band *s)
{
	buf_done(&s->bytes);
	vec_done(&s->entries);
}
