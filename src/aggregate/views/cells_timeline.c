/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells_timeline.c - converts the positions of a source's part of a timeline to tuples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/groups.h"
#include "aggregate/views/cells_priv.h"
#include "aggregate/views/view.h"

static uint64_t pair_a(const struct timeline_track *track, uint32_t position)
{
	return (uint64_t)track->who << 32 | position;
}

/* Moves the selected entries to *to and advances it.  Returns 0 or -ENOMEM. */
static int cells_timeline_keep_wanted(struct profile *p, struct view *v, size_t span,
				      uint32_t end, uint32_t *to, uint32_t *where_of)
{
	struct timeline *t = &p->timeline;
	const struct timeline_track *track = &t->tracks.at[t->spans.at[span].track];

	for (uint32_t at = t->spans.at[span].at, next = at; at < end; at = next) {
		uint32_t samples, position = timeline_next(t, &next, &samples);
		struct cell_view c =
			cells_look_at(v, pair_a(track, position), track->what);
		int wanted = cells_wanted(p, v, &c);

		if (wanted < 0)
			return wanted;
		if (!wanted)
			continue;
		where_of[position < v->positions.nr ? position : v->positions.nr] =
			WHERE_WANTED;
		memmove(&t->words[*to], &t->words[at], (next - at) * sizeof(*t->words));
		*to += next - at;
	}
	return 0;
}

/* Removes spans that have become empty. */
static int drop_unwanted(struct profile *p, struct view *v, uint32_t *where_of)
{
	struct timeline *t = &p->timeline;
	size_t nr = t->first_span;
	uint32_t to;

	if (t->spans.nr == nr)
		return 0;
	to = t->spans.at[nr].at;
	for (size_t i = nr; i < t->spans.nr; i++) {
		uint32_t begin = to;
		int r = cells_timeline_keep_wanted(p, v, i, timeline_span_end(t, i),
						   &to, where_of);

		if (r)
			return r;
		if (to == begin)
			continue;
		t->spans.at[nr] = t->spans.at[i];
		t->spans.at[nr++].at = begin;
	}
	t->spans.nr = nr;
	t->nr_words = to;
	return 0;
}

int cells_timeline_take(struct profile *p, struct view *v, uint32_t *where_of)
{
	if (cells_all_wanted(p, v)) {
		memset(where_of, WHERE_WANTED,
		       (v->positions.nr + 1) * sizeof(*where_of));
		return 0;
	}
	return drop_unwanted(p, v, where_of);
}

/* Returns the rows of tracks, which have a "who" and no position (malloc'd); NULL if memory is
 * short. */
static uint32_t *make_rows(struct profile *p, struct view *v)
{
	struct timeline *t = &p->timeline;
	uint32_t *rows = calloc(t->tracks.nr - t->first_track + 1, sizeof(*rows));

	for (size_t i = t->first_track; rows && i < t->tracks.nr; i++) {
		struct timeline_track *track = &t->tracks.at[i];
		struct cell_view c = cells_look_at(v, pair_a(track, 0), track->what);
		uint32_t who, row = DICT_NONE;

		c.bucket = 0;
		who = cells_tuple(p, v, NULL, &c, GROUP_WHO);
		if (who != DICT_NONE)
			row = groups_row_of(p, who, 0, c.event);
		if (row == DICT_NONE) {
			free(rows);
			return NULL;
		}
		rows[i - t->first_track] = row;
		*track = (struct timeline_track){ p->rows.at[row].group, c.event };
	}
	return rows;
}

/* Converts the positions of a span to tuples.  Returns its number of samples. */
static uint64_t name_span(struct timeline *t, size_t span, uint32_t end,
			  const uint32_t *where_of, size_t nr_positions)
{
	uint64_t sum = 0;

	for (uint32_t at = t->spans.at[span].at; at < end;) {
		uint32_t *word = &t->words[at];
		uint32_t samples, position = timeline_next(t, &at, &samples);

		*word = where_of[position < nr_positions ? position : nr_positions] |
			(*word & TIMELINE_MANY);
		sum += samples;
	}
	return sum;
}

int cells_timeline_add(struct profile *p, struct view *v, const uint32_t *where_of)
{
	struct timeline *t = &p->timeline;
	uint32_t *rows = make_rows(p, v);

	if (!rows || p->tuples[GROUP_WHERE].nr >= TIMELINE_MANY) {
		free(rows);
		return -ENOMEM;
	}
	for (size_t i = t->first_span; i < t->spans.nr; i++) {
		uint32_t row = rows[t->spans.at[i].track - t->first_track];
		uint64_t samples = name_span(t, i, timeline_span_end(t, i), where_of,
					     v->positions.nr);

		p->rows.at[row].samples += samples;
		p->events.at[p->rows.at[row].event].samples += samples;
		p->samples += samples;
	}
	free(rows);
	return 0;
}
