/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_images.h - writes ELF files for images of which only the function names are known, so that
 * reports need no special case for such a session.
 * Layer: import. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"

struct err;

struct name_image {
	uint32_t image;      /* image number in the dict */
	VEC(uint32_t) names; /* numbers of its names, in the order of their offsets */
};

struct name_images {
	struct dict *dict; /* not owned */
	uint64_t seed;
	struct strtab names;
	VEC(struct name_image) images;
	struct map image_by; /* string of the dict -> index of the image */
	/* (index in `images`, name) -> index in the `names` of that image */
	struct map name_by;
};

/* Initializes `n`. `seed` makes the build-ids differ from those of images with the same name in
 * other sessions. Returns 0 or -ENOMEM. */
int name_images_init(struct name_images *n, struct dict *dict, uint64_t seed);
void name_images_done(struct name_images *n);
/* Returns the frame of a function in the dict, or DICT_NONE if memory is short. An empty name is
 * an unknown function; all unknown functions of an image share a frame. */
uint32_t name_images_frame(struct name_images *n, const char *image, const char *name);
/* Returns the number of an image in the dict, DICT_NONE if memory is short. */
uint32_t name_images_image(struct name_images *n, const char *image);
/* Writes the files into SESSION/images/.  Returns 0, or a negative errno with a message. */
int name_images_save(const struct name_images *n, const char *session, struct err *err);
