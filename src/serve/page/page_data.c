/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/page/page_data.h"

#include <string.h>

#include "archive/read/open.h"
#include "base/err.h"
#include "format/session/session.h"
#include "recordings/locations.h"
#include "resolve/symbolize/naming.h"
#include "serve/page/page.h"

/* Finds the recordings of all sides. */
static int page_data_find(struct page_data *d, const struct page_data_open *open,
			  struct err *err)
{
	const struct page_options *o = open->options;

	for (size_t i = 0; i < VIEW_SIDES && open->sides[i]; i++) {
		struct report_sources *sources = &d->sources[i];
		int r;

		sources->trust = report_trust(o->force);
		sources->root = o->locations->root;
		d->nr_sides = i + 1;
		r = report_sources_find(open->session_dir, open->sides[i], &d->specs[i],
					sources, err);
		if (r)
			return r;
	}
	return 0;
}

/* Returns whether a recorder writes the newest segment of the session. */
static bool session_is_live(const struct report_session *session)
{
	struct segment *segment;
	bool written = false;
	char **paths;
	size_t nr;

	if (session->perf_data || session_list(session->dir, &paths, &nr, NULL))
		return false;
	if (nr && !segment_open(paths[nr - 1], session->trust, &segment, NULL)) {
		written = segment_is_written(segment);
		segment_close(segment);
	}
	session_list_free(paths, nr);
	return written;
}

static bool page_data_is_live(const struct page_data *d)
{
	for (size_t i = 0; i < d->nr_sides; i++)
		for (size_t k = 0; k < d->sources[i].sessions.nr; k++)
			if (session_is_live(&d->sources[i].sessions.at[k]))
				return true;
	return false;
}

static int page_data_open_model(struct page_data *d, const struct page_data_open *open,
				struct err *err)
{
	const struct page_options *o = open->options;
	struct location_options locations = *o->locations;
	struct view_options options = {
		.nr_sides = d->nr_sides,
		.spec = &d->specs[0],
		.find = &d->find,
		.live = open->recording || page_data_is_live(d),
		.can_record = open->can_record,
		.first_generation = open->generation,
		.progress = o->progress,
	};
	struct source_find_options find = { .root = locations.root };
	int r;

	/* A page reads a live recording again and again, and debug information is most of the
	 * cost. */
	options.no_inline = options.live && open->can_record;
	for (size_t i = 0; i < d->nr_sides; i++) {
		options.sides[i].sources = &d->sources[i];
		options.sides[i].title = o->titles[i];
		if (d->sources[i].archive)
			locations.archive = archive_folder(d->sources[i].archive);
	}
	find.archive = locations.archive;
	r = locations_make(&locations, &d->locations, err);
	if (!r)
		r = source_find_init(&d->find, &find, err);
	if (r)
		return r;
	options.locations = d->locations;
	return view_model_open(&options, &d->model, err);
}

int page_data_open(struct page_data *d, const struct page_data_open *open,
		   struct err *err)
{
	int r = page_data_find(d, open, err);

	if (!r)
		r = page_data_open_model(d, open, err);
	if (r)
		page_data_close(d);
	return r;
}

void page_data_close(struct page_data *d)
{
	view_model_close(d->model);
	naming_locations_free(d->locations);
	source_find_done(&d->find);
	for (size_t i = 0; i < d->nr_sides; i++) {
		report_sources_done(&d->sources[i]);
		spec_done(&d->specs[i]);
	}
	memset(d, 0, sizeof(*d));
}
