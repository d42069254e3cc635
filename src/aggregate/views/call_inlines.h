/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_inlines.h - the inlined functions at the frames of stacks, and their source lines.
 * Layer: aggregate; used by views/positions.c and call_stacks.c. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "aggregate/views/call_stacks.h"

/* A function in the source.  Lines are strings of the profile, "path:12"; DICT_NONE: unknown. */
struct call_step {
	uint32_t function; /* of the profile */
	/* With options.call_lines: the line that the frame executes or, if it calls the next
	 * frame, the line of the call. */
	uint32_t line;
	/* With options.call_lines: line of the function's declaration. */
	uint32_t start;
};

struct call_inlines;
struct profile;
struct view;

/* Fills view->inlines for the stacks of all its positions.  Keeps the debug information of a single
 * image open at a time.  Returns 0 or -ENOMEM. */
int call_inlines_make(struct profile *p, struct view *v);
void call_inlines_free(struct call_inlines *c); /* `c` can be NULL */
/* Returns the functions inlined at a frame, outermost first, and their number in *ret_nr.  Each
 * is inlined into the previous one, and the first into the frame's own function.  `c` can be
 * NULL. */
const struct call_step *call_inlines_at(const struct call_inlines *c, uint32_t frame,
					enum call_position position, size_t *ret_nr);
/* Returns the step of the frame's own function, or NULL if it is unknown. Here, `function` is the
 * number of inlined steps, which follow this one in memory. `c` can be NULL. */
const struct call_step *call_inlines_own(const struct call_inlines *c, uint32_t frame,
					 enum call_position position);
