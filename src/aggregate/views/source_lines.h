/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_lines.h - the source locations of a view's positions: values of the keys line, file,
 * inline and function-line.
 * Layer: aggregate; used by cells.c only. Positions must be processed image by image, because the
 * debug information of only one image is open. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"

struct naming_lines;
struct position;
struct view;

struct source_lines {
	struct profile *p;
	struct view *view;
	struct naming_lines *open; /* of `image`; NULL: no debug information */
	uint32_t image;
	struct buf text;
};

void source_lines_init(struct source_lines *s, struct profile *p, struct view *v);
void source_lines_done(struct source_lines *s);
/* Prepares for the positions view.order[at] and following that are in the same image, except those
 * whose `where` is DICT_NONE.  Returns 0 or -ENOMEM. */
int source_lines_begin(struct source_lines *s, size_t at, const uint32_t *where);
/* Returns the value of a key for a position of the image that source_lines_begin() opened: a string
 * of the profile, or STRTAB_FAILED if memory is short. */
uint32_t source_lines_value(struct source_lines *s, const struct position *position,
			    enum key_id key);
