/* SPDX-License-Identifier: GPL-2.0-or-later */
/* name_images.h - images of which nothing is known but names of functions: files that say just
 * that, so that a session of such is read as any other.
 * Layer: import. */
#pragma once
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"

struct err;

struct name_image {
	uint32_t image;      /* of the dict */
	VEC(uint32_t) names; /* by their offset */
};

struct name_images {
	struct dict *dict; /* borrowed */
	uint64_t seed;
	struct strtab names;
	VEC(struct name_image) images;
	struct map image_by; /* string of the dict -> image */
	struct map name_by;  /* (image, name) -> offset */
};

/* `seed` tells them from images of the same name in other sessions.  0 or -ENOMEM. */
int name_images_init(struct name_images *n, struct dict *dict, uint64_t seed);
void name_images_done(struct name_images *n);
/* The frame of a function; an empty name: none is known, as of all functions of that image.  Frame of
 * the dict, or DICT_NONE when memory is short. */
uint32_t name_images_frame(struct name_images *n, const char *image, const char *name);
/* The number in the dict of an image, DICT_NONE when memory is short. */
uint32_t name_images_image(struct name_images *n, const char *image);
/* Writes the files into SESSION/images/.  0, or a negative errno with a line. */
int name_images_save(const struct name_images *n, const char *session, struct err *err);
