/* SPDX-License-Identifier: GPL-2.0-or-later */
/* timeline.h - stores the positions of samples in compact form, one span of time after the other,
 * for profiles that are divided by time.
 * Layer: aggregate. In a short span of time nearly every sample has a different position, so
 * searching for equal samples costs more time and memory than it saves. But samples arrive
 * thread by thread and roughly in time order: most have the same thread, processor and event
 * (the "track") and the same span of time (the "bucket") as the previous sample. So track and
 * bucket are stored once, followed by the positions, 4 bytes each. If a position occurred
 * shortly before in the same span, its entry is counted up instead. So memory mostly grows with
 * the distinct positions; but a position can occur several times in a span, and a bucket several
 * times in a track. If tracks alternate, as events of a group do, spans are short; when there
 * are many, the spans of the same bucket and track are merged, as long as that reduces their
 * number. An entry is a position; if TIMELINE_MANY is set, the next word is its number of
 * samples. While a source is read, positions are numbers of the source; afterwards they are
 * tuples (groups.h). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

#define TIMELINE_MANY 0x80000000u

/* While a source is read: an actor of the source, with event and cpu as in tally.h.  Afterwards: a
 * group that has only a "who", with an event of the profile. */
struct timeline_track {
	uint32_t who;
	uint32_t what;
};

struct timeline_span {
	uint32_t track;
	uint32_t bucket; /* KEY_TIME, in units of the bucket width */
	uint32_t at; /* index of its first word; it ends where the next span begins */
};

struct timeline {
	VEC(struct timeline_track) tracks;
	/* These two arrays are allocated with huge_zalloc(): they are large, and huge_zgrow()
	 * extends them without copying. */
	struct {
		struct timeline_span *at;
		size_t nr;
		size_t room;
	} spans;
	uint32_t *words;
	size_t nr_words;
	size_t room;
	size_t first_track, first_span; /* of the current source */
	struct pairs track_by;          /* of the current source */
	/* Number of spans of the source at which they are folded (merged) next. */
	size_t fold_at;
	bool is_open;                   /* the last span can still grow */
	uint64_t last_a, last_b;        /* its pair */
	struct timeline_recent *recent; /* its recent positions */
};

/* Frees a timeline. An all-zero structure is empty. */
void timeline_done(struct timeline *t);
/* Begins a source.  Returns 0 or -ENOMEM. */
int timeline_begin(struct timeline *t);
/* Ends a source. */
void timeline_end(struct timeline *t);
/* Counts a sample of a pair as in tally.h: (actor, position), (bucket, cpu, event).  Returns 0 or
 * -ENOMEM. */
int timeline_add(struct timeline *t, uint64_t a, uint64_t b);
/* Like timeline_add(), for several samples. */
int timeline_add_many(struct timeline *t, uint64_t a, uint64_t b, uint64_t samples);

/* Returns the index of the word after the last one of a span. */
static inline uint32_t timeline_span_end(const struct timeline *t, size_t span)
{
	return span + 1 < t->spans.nr ? t->spans.at[span + 1].at
				      : (uint32_t)t->nr_words;
}

/* Returns the position of the entry at *at and its number of samples, and advances *at. */
static inline uint32_t timeline_next(const struct timeline *t, uint32_t *at,
				     uint32_t *ret_samples)
{
	uint32_t word = t->words[(*at)++];

	*ret_samples = word & TIMELINE_MANY ? t->words[(*at)++] : 1;
	return word & ~TIMELINE_MANY;
}
