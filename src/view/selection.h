/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selection.h - the samples that the parameters of a query select.
 * Layer: view. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "view/model_priv.h"
#include "view/params.h"

struct view_selection {
	const struct view_data *data;
	uint32_t event;            /* VIEW_NONE: all events */
	uint32_t from_bin, to_bin; /* `to_bin` is excluded */
	uint8_t *tracks;           /* by track: whether it is selected */
	uint8_t *nodes;            /* by node: whether it is selected; NULL: all are */
	bool all_threads;          /* all tracks of the event are selected */
};

/* Makes the selection that the parameters describe. Returns 0, -ENOENT (no event of this name),
 * -EINVAL, or -ENOMEM, with a message in *err. Call view_selection_done() in any case. */
int view_selection_make(struct view_selection *s, struct view_model *m,
			const struct view_params *params, struct err *err);
/* Extends a selection that was made with the same parameters to all events. */
void view_selection_all_events(struct view_selection *s,
			       const struct view_params *params);
void view_selection_done(struct view_selection *s);

static inline bool view_selection_span(const struct view_selection *s,
				       const struct view_span *span)
{
	return s->tracks[span->track] && span->bin >= s->from_bin &&
	       span->bin < s->to_bin;
}

/* Returns the number of selected samples in a span for which view_selection_span() is true. */
uint64_t view_selection_count(const struct view_selection *s, size_t span);
/* Adds the selected samples of each node to self[node] or, if `by_side` is set, to
 * self[node * VIEW_SIDES + side]. */
void view_selection_sum(const struct view_selection *s, uint64_t *self, bool by_side);
/* Returns whether a function has this name, in the full or short form. */
bool view_function_is(struct view_model *m, uint32_t function, const char *name);
