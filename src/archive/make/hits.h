/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hits.h - finds the offsets that were sampled in each image of a recording, including those of
 * callers.
 * Layer: archive. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"

struct archive_hits;
struct dict;

typedef VEC(uint64_t) archive_offsets;

/* Collects the hits of a dict, which must outlive the result.  Returns 0 or -ENOMEM. */
int archive_hits_new(const struct dict *dict, struct archive_hits **ret_hits);
void archive_hits_free(struct archive_hits *h); /* NULL is allowed */
/* Returns the offsets in the image, ascending, each once.  A return address belongs to the call
 * before it, so the byte before each offset is also included.  Returns 0 or -ENOMEM. */
int archive_hits_of(const struct archive_hits *h, uint32_t image,
		    archive_offsets *ret_offsets);
