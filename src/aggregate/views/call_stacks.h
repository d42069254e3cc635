/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_stacks.h - walks the stacks of a dict from callee to caller.
 * Layer: aggregate; private to the building of call trees. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/image_names.h"
#include "format/session/dict.h"

struct profile;
struct view;

/* How to interpret the address of a frame. */
enum call_position {
	CALL_AT,     /* the address itself */
	CALL_BEFORE, /* just before it: it is a return address */
	CALL_POSITIONS
};

static inline uint32_t call_stack_parent(const struct dict *d, uint32_t stack)
{
	uint32_t parent =
		stack < d->stacks.nr ? d->stacks.at[stack].parent : STACK_ROOT;

	/* Callers precede callees in the dict, unless it is damaged. */
	return parent < stack ? parent : STACK_ROOT;
}

static inline uint32_t call_stack_frame(const struct dict *d, uint32_t stack)
{
	return stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;
}

/* Returns true if the frame of a stack is in the kernel. */
static inline bool call_stack_in_kernel(const struct dict *d, uint32_t stack)
{
	uint32_t at = call_stack_frame(d, stack);

	return at < d->frames.nr && d->frames.at[at].image < d->images.nr &&
	       image_is_kernel(&d->images.at[d->frames.at[at].image]);
}

/* Returns how to look up the function of a stack's frame.  A return address can be the first
 * address after its function, if that ended with the call.  In the kernel the address is used
 * unchanged, because an interrupt can arrive at the first instruction of a function, and this
 * cannot be detected.  The same applies to user code that the kernel interrupted. */
static inline enum call_position call_stack_position(const struct dict *d,
						     uint32_t stack, uint32_t callee)
{
	if (callee == DICT_NONE || call_stack_in_kernel(d, stack) ||
	    call_stack_in_kernel(d, callee))
		return CALL_AT;
	return CALL_BEFORE;
}

/* Returns the function number of a leaf frame of the view's dict; VIEW_UNSET if memory is short. */
uint32_t call_tree_leaf(struct profile *p, struct view *v, uint32_t frame);
/* Returns the call-tree node of a stack of the view's dict; DICT_NONE if memory is short.  Looks up
 * callers at the address of their call, and the leaf at the address of the sample. */
uint32_t call_tree_of_stack(struct profile *p, struct view *v, uint32_t stack);
