/* SPDX-License-Identifier: GPL-2.0-or-later */
/* times.h - the selected samples by time: timelines of tracks, and heat maps.
 * Layer: view. */
#pragma once
#include <stdint.h>

#include "view/selection.h"

enum view_lanes {
	VIEW_LANES_NONE,
	VIEW_LANES_THREAD,
	VIEW_LANES_CPU,
	VIEW_LANES_COMM
};

/* A thread, CPU or command. */
struct view_lane {
	uint32_t
		thread; /* of the model: the last thread of the lane; VIEW_NONE: a CPU */
	int32_t cpu;    /* -1: not a CPU */
	uint64_t samples;
	uint64_t *bins; /* owned by the timeline; NULL: not one of the top lanes */
};

struct view_timeline {
	uint64_t from_ns, bin_ns;
	size_t nr_bins;
	uint64_t *total[VIEW_SIDES]; /* by bin */
	VEC(struct view_lane) lanes; /* most samples first */
	uint64_t *pool;
};

struct view_timeline_options {
	size_t bins; /* maximum number of bins */
	enum view_lanes lanes;
	size_t top; /* maximum number of lanes with bins */
};

/* Counts the selected samples in bins of time, in total and for each lane. Returns 0 or -ENOMEM;
 * call view_timeline_done() in any case. */
int view_timeline_make(struct view_timeline *t, const struct view_selection *s,
		       const struct view_timeline_options *options);
void view_timeline_done(struct view_timeline *t);

/* A heat map. Time increases along a column, and continues in the next column. */
struct view_heat {
	uint64_t from_ns, row_ns;
	size_t rows, columns; /* a column is `rows` rows long */
	uint64_t *cells;      /* column after column */
};

/* Makes a map of at most this many columns and rows. Returns 0 or -ENOMEM; call view_heat_done() in
 * any case. */
int view_heat_make(struct view_heat *h, const struct view_selection *s, size_t columns,
		   size_t rows);
void view_heat_done(struct view_heat *h);
