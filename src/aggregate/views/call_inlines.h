/* call_inlines.h - which functions were inlined where the frames of stacks are, and where in the
 * source these are.
 * Layer: aggregate; used by views/places.c and call_stacks.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/views/call_stacks.h"

/* A function in the source, by strings of the profile: "path:12", DICT_NONE: unknown. */
struct call_step {
	uint32_t function; /* of the profile */
	uint32_t
		line; /* with options.call_lines: where it is just then, or calls the next one */
	uint32_t start; /* likewise: where it is declared */
};

struct call_inlines;
struct profile;
struct view;

/* Fills view->inlines for the stacks of all its places: the debug information of one image at
 * a time is open.  0 or -ENOMEM. */
int call_inlines_make(struct profile *p, struct view *v);
void call_inlines_free(struct call_inlines *c); /* NULL is fine */
/* The functions that were inlined at a frame, the outermost first, each into the one before and
 * the first into the frame's own; *ret_nr is their number.  `c` NULL: none. */
const struct call_step *call_inlines_at(const struct call_inlines *c, uint32_t frame,
					enum call_place place, size_t *ret_nr);
/* The same of the frame's own function, whose number it does not have.  NULL: unknown. */
const struct call_step *call_inlines_own(const struct call_inlines *c, uint32_t frame,
					 enum call_place place);
