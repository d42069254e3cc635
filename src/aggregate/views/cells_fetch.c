/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells_fetch.c - implements cells_fetch() of cells.h. */
#include <errno.h>
#include <stdlib.h>

#include "aggregate/views/cells.h"
#include "aggregate/views/cells_priv.h"
#include "aggregate/views/view.h"

/* The number of samples of an image. */
struct weight {
	uint32_t image;
	uint64_t samples;
};

/* Adds the samples of a cell to the weight of its image. Functions are not known yet, so all
 * samples of a selected image count. Returns 0 or a negative errno. */
static int weigh(struct profile *p, struct view *v, struct cell_view *c,
		 uint64_t samples, struct weight *weights)
{
	int wanted = cells_image_wanted(p, v, c);

	if (wanted > 0 && c->position->image < v->nr_images)
		weights[c->position->image].samples += samples;
	return wanted < 0 ? wanted : 0;
}

static int weigh_cells(struct profile *p, struct view *v, struct weight *weights)
{
	int r = 0;

	for (size_t i = 0; !r && i < v->tally.nr_cells; i++) {
		const struct tally_cell *cell = &v->tally.cells[i];
		struct cell_view c = cells_look_at(v, cell->a, cell->b);

		r = weigh(p, v, &c, cell->samples, weights);
	}
	return r;
}

static int weigh_timeline(struct profile *p, struct view *v, struct weight *weights)
{
	const struct timeline *t = &p->timeline;
	int r = 0;

	for (size_t i = t->first_span; i < t->spans.nr; i++) {
		const struct timeline_track *track =
			&t->tracks.at[t->spans.at[i].track];
		uint32_t at = t->spans.at[i].at, end = timeline_span_end(t, i);

		while (!r && at < end) {
			uint32_t samples, position = timeline_next(t, &at, &samples);
			struct cell_view c = cells_look_at(
				v, (uint64_t)track->who << 32 | position, track->what);

			r = weigh(p, v, &c, samples, weights);
		}
	}
	return r;
}

static int compare_weights(const void *a, const void *b)
{
	const struct weight *x = a;
	const struct weight *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return x->image < y->image ? -1 : x->image > y->image;
}

static int fetch_by_weight(struct view *v, struct weight *weights)
{
	uint32_t *images = malloc((v->nr_images + 1) * sizeof(*images));
	size_t nr = 0;
	int r;

	if (!images)
		return -ENOMEM;
	qsort(weights, v->nr_images, sizeof(*weights), compare_weights);
	while (nr < v->nr_images && weights[nr].samples) {
		images[nr] = weights[nr].image;
		nr++;
	}
	r = naming_fetch(v->source.naming, images, nr);
	free(images);
	return r;
}

int cells_fetch(struct profile *p, struct view *v)
{
	struct weight *weights = calloc(v->nr_images + 1, sizeof(*weights));
	int r;

	if (!weights)
		return -ENOMEM;
	for (size_t i = 0; i < v->nr_images; i++)
		weights[i].image = (uint32_t)i;
	r = p->options.timeline ? weigh_timeline(p, v, weights)
				: weigh_cells(p, v, weights);
	if (!r)
		r = fetch_by_weight(v, weights);
	free(weights);
	return r;
}
