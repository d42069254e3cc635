#include "resolve/replay/side_band.h"

#include <errno.h>
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

/* Where the run that begins at `i` ends: up to there times do not go back. */
static size_t side_band_run_end(const struct side_band *s, size_t i)
{
	while (i + 1 < s->entries.nr &&
	       s->entries.at[i].time_ns <= s->entries.at[i + 1].time_ns)
		i++;
	return i + 1 < s->entries.nr ? i + 1 : s->entries.nr;
}

/* Two neighbouring runs [a, b) and [b, end) into one of `out`; at equal times the first goes first. */
static void side_band_merge(const struct side_band_entry *at, size_t a, size_t b,
			    size_t end, struct side_band_entry *out)
{
	size_t second = b;

	for (size_t i = a; i < end; i++)
		out[i] = second == end || (a < b && at[a].time_ns <= at[second].time_ns)
				 ? at[a++]
				 : at[second++];
}

/* By time; at equal times the order of arrival holds.  There is a run for each CPU's ring: few. */
static int side_band_sort(struct side_band *s)
{
	while (side_band_run_end(s, 0) < s->entries.nr) {
		__typeof__(s->entries) before = s->entries;

		if (!vec_reserve(&s->room, before.nr))
			return -ENOMEM;
		for (size_t a = 0, b, end; a < before.nr; a = end) {
			b = side_band_run_end(s, a);
			end = b < before.nr ? side_band_run_end(s, b) : b;
			side_band_merge(before.at, a, b, end, s->room.at);
		}
		s->entries = s->room;
		s->entries.nr = before.nr;
		s->room = before;
	}
	return 0;
}

/* The bytes of the entries in a buffer of their own, so that it does not grow for ever.  Without the
 * memory they stay where they are. */
static void compact(struct side_band *s)
{
	struct buf rest = { 0 };
	size_t bytes = 0;

	for (size_t i = 0; i < s->entries.nr; i++)
		bytes += s->entries.at[i].len;
	if (!buf_reserve(&rest, bytes))
		return;
	for (size_t i = 0; i < s->entries.nr; i++) {
		struct side_band_entry *e = &s->entries.at[i];
		size_t offset = rest.len;

		buf_put(&rest, s->bytes.data + e->offset, e->len);
		e->offset = offset;
	}
	buf_done(&s->bytes);
	s->bytes = rest;
}

static void side_band_drop(struct side_band *s, size_t nr)
{
	s->entries.nr -= nr;
	if (!s->entries.nr) {
		buf_clear(&s->bytes); /* keeps its memory for the next round */
		return;
	}
	memmove(s->entries.at, s->entries.at + nr,
		s->entries.nr * sizeof(*s->entries.at));
	compact(s);
}

int side_band_apply(struct side_band *s, const struct decoder *d, struct resolver *r,
		    uint64_t frontier_ns)
{
	size_t i = 0;
	int result = 0;

	if (!s->entries.nr)
		return 0;
	if (side_band_sort(s))
		return -ENOMEM;
	for (; i < s->entries.nr && s->entries.at[i].time_ns <= frontier_ns && !result;
	     i++) {
		const struct side_band_entry *e = &s->entries.at[i];
		struct record rec;

		if (!decoder_record(d, s->bytes.data + e->offset, e->len, &rec, NULL))
			result = resolver_side_band(r, &rec);
	}
	if (i)
		side_band_drop(s, i);
	return result;
}

void side_band_done(struct side_band *s)
{
	buf_done(&s->bytes);
	vec_done(&s->entries);
	vec_done(&s->room);
}
