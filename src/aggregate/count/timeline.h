/* timeline.h - samples told apart by time: what was hit, one span of time after the other.
 * Layer: aggregate.
 *
 * The idea: nearly each sample of a span of time is at a place of its own, so that looking for its
 * like costs more than it saves, in time and in memory.  But samples come thread by thread and in
 * the order of time, if not strictly: most are of the thread, processor and event (the "track") and
 * of the span (the "bucket") of the one before.  So these stand once, and behind them the places in
 * a row, 4 bytes each.  A place that was met in this span a moment before is counted there, so that
 * memory grows with what is distinct; but a place may be there several times, and so may a bucket
 * of a track.  Where tracks take turns, as events of a group do, spans are short; when there are many,
 * those of a bucket and track are made one, as long as that makes them fewer.
 *
 * An entry is a place; with TIMELINE_MANY set, a word with its number of samples follows.  While a
 * source is read, places have its numbers, and from then on those of tuples (groups.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

#define TIMELINE_MANY 0x80000000u

/* Of a source: an actor; event and cpu as tally.h has them.  Later a group, which is one of "who"
 * alone, and an event of the profile. */
struct timeline_track {
	uint32_t who;
	uint32_t what;
};

struct timeline_span {
	uint32_t track;
	uint32_t bucket; /* KEY_TIME, in widths of the key */
	uint32_t at;     /* its first word; it ends where the next one begins */
};

struct timeline {
	VEC(struct timeline_track) tracks;
	/* These two are huge_zalloc()'d, as they are large and not moved when they grow. */
	struct {
		struct timeline_span *at;
		size_t nr;
		size_t room;
	} spans;
	uint32_t *words;
	size_t nr_words;
	size_t room;
	size_t first_track, first_span; /* of the source that is read */
	struct pairs track_by;          /* likewise */
	size_t fold_at;                 /* so many spans of it are made fewer */
	bool is_open;                   /* the last span is still added to */
	uint64_t last_a, last_b;        /* its pair */
	struct timeline_recent *recent; /* places of it */
};

/* All zeros is an empty one. */
void timeline_done(struct timeline *t);
/* A source begins.  0 or -ENOMEM. */
int timeline_begin(struct timeline *t);
/* Nothing more is added of it. */
void timeline_end(struct timeline *t);
/* Counts a sample of a pair as in tally.h: (actor, place), (bucket, cpu, event).  0 or -ENOMEM. */
int timeline_add(struct timeline *t, uint64_t a, uint64_t b);

/* Behind the last word of a span. */
static inline uint32_t timeline_span_end(const struct timeline *t, size_t span)
{
	return span + 1 < t->spans.nr ? t->spans.at[span + 1].at
				      : (uint32_t)t->nr_words;
}

/* The entry at `*at`, which goes on to the next one: its place, and how many samples. */
static inline uint32_t timeline_next(const struct timeline *t, uint32_t *at,
				     uint32_t *ret_samples)
{
	uint32_t word = t->words[(*at)++];

	*ret_samples = word & TIMELINE_MANY ? t->words[(*at)++] : 1;
	return word & ~TIMELINE_MANY;
}
