/* source_lines.h - where in the source the places of a view are: the values of the keys line,
 * file, inline and function-line.
 * Layer: aggregate; used by cells.c only.
 *
 * Places come image by image, so that the debug information of one image at a time is open. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"

struct naming_lines;
struct place;
struct view;

struct source_lines {
	struct profile *p;
	struct view *view;
	struct naming_lines *open; /* of `image`; NULL: nothing is known of it */
	uint32_t image;
	struct buf text;
};

void source_lines_init(struct source_lines *s, struct profile *p, struct view *v);
void source_lines_done(struct source_lines *s);
/* The places view.order[at] and on that are of one image come next: those whose `where` is
 * DICT_NONE are not asked about.  0 or -ENOMEM. */
int source_lines_begin(struct source_lines *s, size_t at, const uint32_t *where);
/* The value of a key for a place of that image: a string of the profile, STRTAB_FAILED when
 * memory is short. */
uint32_t source_lines_value(struct source_lines *s, const struct place *place,
			    enum key_id key);
