/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "archive/make/hits.h"

#include <errno.h>
#include <stdlib.h>

#include "format/session/dict.h"

struct archive_hits {
	size_t nr_images;
	size_t *end; /* end of each image's offsets, which begin where the previous image's end */
	uint64_t *offsets; /* sorted by image */
};

void archive_hits_free(struct archive_hits *h)
{
	if (!h)
		return;
	free(h->end);
	free(h->offsets);
	free(h);
}

/* Sorts the frames by image (counting sort).  Frames of damaged files may have no image. */
static void archive_hits_fill(struct archive_hits *h, const struct dict *dict)
{
	size_t at = 0;

	for (size_t i = 0; i < dict->frames.nr; i++)
		if (dict->frames.at[i].image < h->nr_images)
			h->end[dict->frames.at[i].image]++;
	for (size_t i = 0; i < h->nr_images; i++) {
		size_t nr = h->end[i];

		h->end[i] = at;
		at += nr;
	}
	for (size_t i = 0; i < dict->frames.nr; i++)
		if (dict->frames.at[i].image < h->nr_images)
			h->offsets[h->end[dict->frames.at[i].image]++] =
				dict->frames.at[i].offset;
}

int archive_hits_new(const struct dict *dict, struct archive_hits **ret_hits)
{
	struct archive_hits *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	h->nr_images = dict->images.nr;
	h->end = calloc(h->nr_images + 1, sizeof(*h->end));
	h->offsets = calloc(dict->frames.nr + 1, sizeof(*h->offsets));
	if (!h->end || !h->offsets) {
		archive_hits_free(h);
		return -ENOMEM;
	}
	archive_hits_fill(h, dict);
	*ret_hits = h;
	return 0;
}

static int compare_offsets(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int archive_hits_of(const struct archive_hits *h, uint32_t image,
		    archive_offsets *ret_offsets)
{
	size_t begin = image ? h->end[image - 1] : 0, nr = 0;
	archive_offsets hits = { 0 };

	if (!vec_reserve(&hits, 2 * (h->end[image] - begin) + 1) || !hits.at)
		return -ENOMEM;
	for (size_t i = begin; i < h->end[image]; i++) {
		hits.at[hits.nr++] = h->offsets[i];
		if (h->offsets[i])
			hits.at[hits.nr++] = h->offsets[i] - 1;
	}
	if (hits.nr)
		qsort(hits.at, hits.nr, sizeof(*hits.at), compare_offsets);
	for (size_t i = 0; i < hits.nr; i++)
		if (!nr || hits.at[nr - 1] != hits.at[i])
			hits.at[nr++] = hits.at[i];
	hits.nr = nr;
	*ret_offsets = hits;
	return 0;
}
