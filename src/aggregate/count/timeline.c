/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tally.h"
#include "base/containers/huge.h"
#include "base/containers/sort_keys.h"

enum {
	RECENT = 1024,
	FIRST_ROOM = 1 << 16,
	MORE_WORDS = 2, /* maximum of an entry */
	FOLD_SPANS = 1 << 18,
	/* If folding saved nothing, the next folding waits for this many times more spans. */
	FOLD_SELDOM = 64,
	BUCKET_BITS = 32
};

/* The word in which a position was last stored. */
struct timeline_recent {
	uint32_t position;
	uint32_t at_plus_1;
};

void timeline_done(struct timeline *t)
{
	timeline_end(t);
	vec_done(&t->tracks);
	huge_zfree(t->spans.at, t->spans.room, sizeof(*t->spans.at));
	huge_zfree(t->words, t->room, sizeof(*t->words));
	*t = (struct timeline){ 0 };
}

int timeline_begin(struct timeline *t)
{
	t->first_track = t->tracks.nr;
	t->first_span = t->spans.nr;
	t->fold_at = FOLD_SPANS;
	t->is_open = false;
	t->recent = calloc(RECENT, sizeof(*t->recent));
	return t->recent ? 0 : -ENOMEM;
}

void timeline_end(struct timeline *t)
{
	pairs_done(&t->track_by);
	free(t->recent);
	t->recent = NULL;
}

/* Doubles the room: untouched memory costs nothing.  Returns NULL if memory is short. */
static void *timeline_grow(void *memory, size_t *room, size_t elem_bytes)
{
	size_t more = *room ? *room * 2 : FIRST_ROOM;
	void *grown = huge_zgrow(memory, *room, more, elem_bytes);

	if (grown)
		*room = more;
	return grown;
}

/* Makes room for an entry. */
static int grow_words(struct timeline *t)
{
	uint32_t *words = NULL;

	if (t->nr_words <= UINT32_MAX - MORE_WORDS)
		words = timeline_grow(t->words, &t->room, sizeof(*words));
	if (!words)
		return -ENOMEM;
	t->words = words;
	return 0;
}

static int add_span(struct timeline *t, const struct timeline_span *span)
{
	struct timeline_span *spans = t->spans.at;

	if (t->spans.nr == t->spans.room)
		spans = timeline_grow(spans, &t->spans.room, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	t->spans.at = spans;
	spans[t->spans.nr++] = *span;
	return 0;
}

static int begin_span(struct timeline *t, uint64_t a, uint64_t b)
{
	const struct timeline_track track = { (uint32_t)(a >> 32), (uint32_t)b };
	struct timeline_span span = {
		.bucket = (uint32_t)(b >> (TALLY_EVENT_BITS + TALLY_CPU_BITS)),
		.at = (uint32_t)t->nr_words,
	};
	bool is_new;
	uint32_t *number_plus_1 =
		pairs_at(&t->track_by, track.who, track.what, &is_new);

	if (!number_plus_1)
		return -ENOMEM;
	if (is_new) {
		/* 0 if memory is short: the error ends the profile. */
		*number_plus_1 = 0;
		if (!vec_push(&t->tracks, track))
			return -ENOMEM;
		*number_plus_1 = (uint32_t)t->tracks.nr;
	}
	span.track = *number_plus_1 - 1;
	if (add_span(t, &span))
		return -ENOMEM;
	t->last_a = a;
	t->last_b = b;
	t->is_open = true;
	return 0;
}

static bool is_of_span(const struct timeline *t, uint64_t a, uint64_t b)
{
	return t->is_open && b == t->last_b && a >> 32 == t->last_a >> 32;
}

/* Adds to the count of the entry at `at`.  Returns false if the entry cannot hold it. */
static bool timeline_count(struct timeline *t, uint32_t at, uint32_t samples)
{
	uint32_t *word = &t->words[at];

	if (!(*word & TIMELINE_MANY)) {
		if (at + 1 < t->nr_words || samples == UINT32_MAX)
			return false;
		*word |= TIMELINE_MANY;
		t->words[t->nr_words++] = 1 + samples;
		return true;
	}
	if (word[1] > UINT32_MAX - samples)
		return false;
	word[1] += samples;
	return true;
}

/* Adds a position to the last span. */
static int timeline_add_entry(struct timeline *t, uint32_t position, uint32_t samples)
{
	struct timeline_recent *recent = &t->recent[position % RECENT];
	bool again;

	if (t->nr_words + MORE_WORDS > t->room && grow_words(t))
		return -ENOMEM;
	again = recent->position == position &&
		recent->at_plus_1 > t->spans.at[t->spans.nr - 1].at;
	if (again && timeline_count(t, recent->at_plus_1 - 1, samples))
		return 0;
	again |= samples > 1;
	t->words[t->nr_words++] = again ? position | TIMELINE_MANY : position;
	*recent = (struct timeline_recent){ position, (uint32_t)t->nr_words };
	if (again)
		t->words[t->nr_words++] = samples;
	return 0;
}

/* ---- short spans ---- */

/* Returns the spans of the source, sorted by track, bucket and start.  The caller frees them. */
static struct sort_key *sorted_spans(const struct timeline *t)
{
	size_t nr = t->spans.nr - t->first_span;
	struct sort_key *keys = malloc((nr + 1) * sizeof(*keys));

	for (size_t i = 0; keys && i < nr; i++) {
		const struct timeline_span *span = &t->spans.at[t->first_span + i];

		keys[i] = (struct sort_key){
			(uint64_t)span->track << BUCKET_BITS | span->bucket, (uint32_t)i
		};
	}
	if (keys && sort_keys(&keys, nr)) {
		free(keys);
		keys = NULL;
	}
	return keys;
}

static int copy_span(struct timeline *to, const struct timeline *t, size_t i)
{
	const struct timeline_span *span = &t->spans.at[i];
	uint32_t end = timeline_span_end(t, i);
	const struct timeline_span *last =
		to->spans.nr ? &to->spans.at[to->spans.nr - 1] : NULL;
	struct timeline_span begun = { span->track, span->bucket,
				       (uint32_t)to->nr_words };
	int r = 0;

	if (!last || last->track != span->track || last->bucket != span->bucket)
		r = add_span(to, &begun);
	for (uint32_t at = span->at; at < end && !r;) {
		uint32_t samples, position = timeline_next(t, &at, &samples);

		r = timeline_add_entry(to, position, samples);
	}
	return r;
}

/* Replaces the source's spans with the folded ones, which are at most as many.  But they can
 * need more words: a position that occurs twice with others between becomes an entry with a count.
 * */
static int put_back(struct timeline *t, const struct timeline *folded)
{
	uint32_t from = t->spans.at[t->first_span].at;
	struct timeline_span *spans = &t->spans.at[t->first_span];

	if (!folded->nr_words)
		return 0;
	while (folded->nr_words > t->room - from)
		if (grow_words(t))
			return -ENOMEM;
	memcpy(&t->words[from], folded->words, folded->nr_words * sizeof(*t->words));
	memcpy(spans, folded->spans.at, folded->spans.nr * sizeof(*spans));
	for (size_t i = 0; i < folded->spans.nr; i++)
		spans[i].at += from;
	t->nr_words = from + folded->nr_words;
	t->spans.nr = t->first_span + folded->spans.nr;
	t->is_open = false;
	memset(t->recent, 0, RECENT * sizeof(*t->recent));
	return 0;
}

/* Merges spans of the same track and bucket.  Returns 0 or -ENOMEM. */
static int timeline_fold(struct timeline *t)
{
	struct timeline folded = { 0 };
	size_t nr = t->spans.nr - t->first_span;
	struct sort_key *keys = sorted_spans(t);
	int r = keys ? timeline_begin(&folded) : -ENOMEM;

	for (size_t i = 0; i < nr && !r; i++)
		r = copy_span(&folded, t, t->first_span + keys[i].index);
	if (!r)
		r = put_back(t, &folded);
	if (!r) {
		t->fold_at = 2 * folded.spans.nr;
		if (t->fold_at > nr)
			t->fold_at = FOLD_SELDOM * nr;
		else if (t->fold_at < FOLD_SPANS)
			t->fold_at = FOLD_SPANS;
	}
	timeline_done(&folded);
	free(keys);
	return r;
}

static int timeline_enter_span(struct timeline *t, uint64_t a, uint64_t b)
{
	if (is_of_span(t, a, b))
		return 0;
	if (t->spans.nr - t->first_span >= t->fold_at && timeline_fold(t))
		return -ENOMEM;
	return begin_span(t, a, b);
}

int timeline_add(struct timeline *t, uint64_t a, uint64_t b)
{
	return timeline_enter_span(t, a, b) ? -ENOMEM
					    : timeline_add_entry(t, (uint32_t)a, 1);
}

int timeline_add_many(struct timeline *t, uint64_t a, uint64_t b, uint64_t samples)
{
	/* An entry holds 32 bits. */
	while (samples) {
		uint32_t some = samples < UINT32_MAX ? (uint32_t)samples : UINT32_MAX;

		if (timeline_enter_span(t, a, b) ||
		    timeline_add_entry(t, (uint32_t)a, some))
			return -ENOMEM;
		samples -= some;
	}
	return 0;
}
