/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code_images.h - converts positions in binaries, which a profile has instead of function names,
 * to frames.  Reports then search the symbols of these binaries as for any recording.
 * Layer: import. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "format/session/dict.h"

/* A segment of a binary: the addresses, and where they are in the file. */
struct code_segment {
	uint64_t vaddr;
	uint64_t bytes;
	uint64_t offset;
};

struct code_image {
	struct image found;
	uint32_t image; /* image number in the dict; DICT_NONE: no frame yet */
	bool searched; /* for its segments; there are none if the binary was not found */
	VEC(struct code_segment) segments;
};

struct code_images {
	struct dict *dict; /* not owned */
	VEC(struct code_image) images;
	struct map image_by; /* (name, build-id): strings of the dict -> image */
};

struct code_images_position {
	const char *image;
	const char *build_id; /* hexadecimal; "": unknown */
	/* An address relative to the page of the first segment, otherwise an offset in the file. */
	bool is_address;
	/* A position in the call instruction, while frames of callers have its end. */
	bool is_call;
	uint64_t value;
};

/* Sets *ret_frame to the frame of the dict, or to DICT_NONE if it is an address, and no binary with
 * the build-id is at the path, so that its offset in the file is unknown.  Returns 0 or -ENOMEM. */
int code_images_frame(struct code_images *c, const struct code_images_position *at,
		      uint32_t *ret_frame);
void code_images_done(struct code_images *c);
