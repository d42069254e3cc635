/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/times.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/map.h"

enum {
	BINS_MAX = 100000,
	LANES_MAX = 1000,
	HEAT_MAX = 10000 /* columns, and rows */
};

/* ---- timeline ---- */

struct view_timeline_making {
	struct view_timeline *t;
	const struct view_selection *s;
	uint32_t *lane_of; /* by track; VIEW_NONE: none */
	uint32_t scale;    /* bins of the model per bin */
};

static uint64_t view_timeline_key(const struct view_data *d, const struct view_track *t,
				  enum view_lanes lanes)
{
	const struct view_thread *thread = &d->threads.at[t->thread];

	switch (lanes) {
	case VIEW_LANES_THREAD:
		return (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->tid;
	case VIEW_LANES_CPU:
		return (uint64_t)(int64_t)t->cpu;
	case VIEW_LANES_COMM:
		return thread->comm;
	case VIEW_LANES_NONE:
	default:
		return 0;
	}
}

static int view_timeline_lanes(struct view_timeline_making *m, enum view_lanes lanes)
{
	const struct view_data *d = m->s->data;
	struct map by = { 0 };
	int r = 0;

	m->lane_of = calloc(d->tracks.nr + 1, sizeof(*m->lane_of));
	if (!m->lane_of)
		return -ENOMEM;
	for (size_t i = 0; !r && i < d->tracks.nr; i++) {
		const struct view_track *track = &d->tracks.at[i];
		struct view_lane lane = { .thread = track->thread, .cpu = -1 };
		struct map_slot *slot;
		bool is_new;

		m->lane_of[i] = VIEW_NONE;
		if (lanes == VIEW_LANES_NONE || !m->s->tracks[i])
			continue;
		if (lanes == VIEW_LANES_CPU)
			lane = (struct view_lane){ .thread = VIEW_NONE,
						   .cpu = track->cpu };
		slot = map_at(&by, view_timeline_key(d, track, lanes), 0, &is_new);
		if (slot && is_new)
			slot->value_plus_1 = (uint32_t)m->t->lanes.nr + 1;
		if (!slot || (is_new && !vec_push(&m->t->lanes, lane))) {
			r = -ENOMEM;
			break;
		}
		m->lane_of[i] = slot->value_plus_1 - 1;
		m->t->lanes.at[m->lane_of[i]].thread = lane.thread;
	}
	map_done(&by);
	return r;
}

/* Adds up the samples in each bin, and those of each lane. */
static void view_timeline_sum(struct view_timeline_making *m)
{
	const struct view_data *d = m->s->data;

	for (size_t i = 0; i + 1 < d->spans.nr; i++) {
		const struct view_span *span = &d->spans.at[i];
		uint32_t lane = m->lane_of[span->track];
		uint64_t count;

		if (!view_selection_span(m->s, span))
			continue;
		count = view_selection_count(m->s, i);
		m->t->total[d->tracks.at[span->track].side]
			   [(span->bin - m->s->from_bin) / m->scale] += count;
		if (lane != VIEW_NONE)
			m->t->lanes.at[lane].samples += count;
	}
}

static int view_timeline_compare(const void *va, const void *vb, void *ctx)
{
	const struct view_timeline *t = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	if (t->lanes.at[a].samples != t->lanes.at[b].samples)
		return t->lanes.at[a].samples > t->lanes.at[b].samples ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Sorts the lanes by samples. */
static int view_timeline_sort(struct view_timeline_making *m)
{
	struct view_timeline *t = m->t;
	size_t nr = t->lanes.nr;
	uint32_t *order = calloc(nr + 1, sizeof(*order));
	uint32_t *place_of = calloc(nr + 1, sizeof(*place_of));
	struct view_lane *sorted = calloc(nr + 1, sizeof(*sorted));
	int r = order && place_of && sorted ? 0 : -ENOMEM;

	for (uint32_t i = 0; !r && i < nr; i++)
		order[i] = i;
	if (!r)
		qsort_r(order, nr, sizeof(*order), view_timeline_compare, t);
	for (uint32_t i = 0; !r && i < nr; i++) {
		place_of[order[i]] = i;
		sorted[i] = t->lanes.at[order[i]];
	}
	for (size_t i = 0; !r && i < nr; i++)
		t->lanes.at[i] = sorted[i];
	for (size_t i = 0; !r && i < m->s->data->tracks.nr; i++)
		if (m->lane_of[i] != VIEW_NONE)
			m->lane_of[i] = place_of[m->lane_of[i]];
	free(order);
	free(place_of);
	free(sorted);
	return r;
}

static int view_timeline_fill(struct view_timeline_making *m, size_t top)
{
	const struct view_data *d = m->s->data;
	struct view_timeline *t = m->t;
	size_t nr = top < t->lanes.nr ? top : t->lanes.nr;

	nr = nr < LANES_MAX ? nr : LANES_MAX;
	t->pool = calloc(nr * t->nr_bins + 1, sizeof(*t->pool));
	if (!t->pool)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		t->lanes.at[i].bins = t->pool + i * t->nr_bins;
	for (size_t i = 0; nr && i + 1 < d->spans.nr; i++) {
		const struct view_span *span = &d->spans.at[i];
		uint32_t lane = m->lane_of[span->track];

		if (lane < nr && view_selection_span(m->s, span))
			t->lanes.at[lane]
				.bins[(span->bin - m->s->from_bin) / m->scale] +=
				view_selection_count(m->s, i);
	}
	return 0;
}

int view_timeline_make(struct view_timeline *t, const struct view_selection *s,
		       const struct view_timeline_options *options)
{
	struct view_timeline_making m = { .t = t, .s = s, .scale = 1 };
	uint32_t nr = s->to_bin > s->from_bin ? s->to_bin - s->from_bin : 0;
	size_t most = options->bins < BINS_MAX ? options->bins : BINS_MAX;
	int r;

	*t = (struct view_timeline){ .from_ns = s->from_bin * s->data->bin_ns };
	if (most && nr > most)
		m.scale = (uint32_t)((nr + most - 1) / most);
	t->bin_ns = m.scale * s->data->bin_ns;
	t->nr_bins = (nr + m.scale - 1) / m.scale;
	for (size_t side = 0; side < VIEW_SIDES; side++) {
		t->total[side] = calloc(t->nr_bins + 1, sizeof(*t->total[side]));
		if (!t->total[side])
			return -ENOMEM;
	}
	r = view_timeline_lanes(&m, options->lanes);
	if (!r)
		view_timeline_sum(&m);
	if (!r)
		r = view_timeline_sort(&m);
	if (!r)
		r = view_timeline_fill(&m, options->top);
	free(m.lane_of);
	return r;
}

void view_timeline_done(struct view_timeline *t)
{
	for (size_t side = 0; side < VIEW_SIDES; side++)
		free(t->total[side]);
	vec_done(&t->lanes);
	free(t->pool);
}

/* ---- heat map ---- */

/* Returns 1, 2 or 5 times a power of ten that is not less than `n`. */
static uint64_t view_heat_round(uint64_t n)
{
	uint64_t unit = 1;

	while (unit * 10 < n)
		unit *= 10;
	return n <= unit       ? unit
	       : n <= 2 * unit ? 2 * unit
	       : n <= 5 * unit ? 5 * unit
			       : 10 * unit;
}

static uint64_t view_heat_root(uint64_t n)
{
	uint64_t root = 1;

	while (root * root < n)
		root++;
	return root;
}

int view_heat_make(struct view_heat *h, const struct view_selection *s, size_t columns,
		   size_t rows)
{
	const struct view_data *d = s->data;
	uint64_t nr = s->to_bin > s->from_bin ? s->to_bin - s->from_bin : 1;
	uint64_t most = columns && columns < HEAT_MAX ? columns : HEAT_MAX;
	uint64_t long_as = (nr + most - 1) / most; /* bins of a column */
	uint64_t row, least;

	rows = rows && rows < HEAT_MAX ? rows : HEAT_MAX;
	/* A short recording has fewer columns instead of very short ones. */
	least = view_heat_root(nr);
	least = least < rows ? least : rows;
	long_as = view_heat_round(long_as > least ? long_as : least);
	row = (long_as + rows - 1) / rows;
	row = view_heat_round(row);
	*h = (struct view_heat){ .from_ns = s->from_bin * d->bin_ns,
				 .row_ns = row * d->bin_ns,
				 .rows = (size_t)((long_as + row - 1) / row) };
	h->columns = (size_t)((nr + row * h->rows - 1) / (row * h->rows));
	h->cells = calloc(h->rows * h->columns + 1, sizeof(*h->cells));
	if (!h->cells)
		return -ENOMEM;
	for (size_t i = 0; i + 1 < d->spans.nr; i++) {
		const struct view_span *span = &d->spans.at[i];

		if (view_selection_span(s, span))
			h->cells[(span->bin - s->from_bin) / row] +=
				view_selection_count(s, i);
	}
	return 0;
}

void view_heat_done(struct view_heat *h)
{
	free(h->cells);
}
