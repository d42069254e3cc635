/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_data.h - the recordings that a page shows, and their model.
 * Layer: serve. */
#pragma once
#include "aggregate/selection/spec.h"
#include "recordings/source_find.h"
#include "recordings/sources.h"
#include "view/model.h"

struct err;
struct page_options;

struct page_data {
	struct report_sources sources[VIEW_SIDES];
	struct spec specs[VIEW_SIDES]; /* the same samples on both sides */
	size_t nr_sides;
	struct naming_locations *locations;
	struct source_find find;
	struct view_model *model; /* NULL: nothing is open */
};

/* How a recording is opened. */
struct page_data_open {
	const struct page_options *options;
	const char *session_dir;
	char *const *sides[VIEW_SIDES];
	uint64_t generation; /* view_options.first_generation */
	bool recording;      /* it is being made, by this page or the daemon */
	bool can_record;
};

/* Opens the recordings.  Returns 0, or a negative errno with a message in *err, and then *d is
 * empty. */
int page_data_open(struct page_data *d, const struct page_data_open *open,
		   struct err *err);
void page_data_close(struct page_data *d); /* empties it */
