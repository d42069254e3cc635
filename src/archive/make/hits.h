/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hits.h - where in the images of a recording there are hits, or calls on the way to
 * them.
 * Layer: archive. */
#pragma once
#include <stdint.h>

#include "base/containers/vec.h"

struct archive_hits;
struct dict;

typedef VEC(uint64_t) archive_offsets;

/* Of a dict, which outlives it.  0 or -ENOMEM. */
int archive_hits_new(const struct dict *dict, struct archive_hits **ret_hits);
void archive_hits_free(struct archive_hits *h); /* NULL is fine */
/* Offsets in the image, ascending, each once.  A return address belongs to the call before it:
 * the byte before each is among them, too.  0 or -ENOMEM. */
int archive_hits_of(const struct archive_hits *h, uint32_t image,
		    archive_offsets *ret_offsets);
