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

/* A segment of a binary: its addresses, and the offset of its first byte in the file. */
struct code_segment {
	uint64_t vaddr;
	uint64_t bytes;
	uint64_t offset;
};

struct code_image {
	struct image found;
	uint32_t image; /* image number in the dict; DICT_NONE: no frame yet */
	/* code_images_frame() has searched the binary; if it was not found, `segments` is empty */
	bool searched;
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
	/* The value is a position in a call instruction. Frames of callers in the dict contain
	 * the end of that instruction instead. */
	bool is_call;
	uint64_t value;
};

/* Sets *ret_frame to the frame in the dict for a position. Sets it to DICT_NONE if the position
 * is an address whose file offset is unknown, because the path has no binary with the build-id.
 * Returns 0 or -ENOMEM. */
int code_images_frame(struct code_images *c, const struct code_images_position *at,
		      uint32_t *ret_frame);
void code_images_done(struct code_images *c);
