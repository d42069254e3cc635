/* call_stacks.h - the stacks of a dict, callee by callee.
 * Layer: aggregate; private to the making of call trees. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "aggregate/selection/image_names.h"
#include "format/session/dict.h"

struct profile;
struct view;

/* Where in a function the address of a frame is. */
enum call_place {
	CALL_AT,     /* there */
	CALL_BEFORE, /* just before it: behind a call */
	CALL_PLACES
};

static inline uint32_t call_stack_parent(const struct dict *d, uint32_t stack)
{
	uint32_t parent =
		stack < d->stacks.nr ? d->stacks.at[stack].parent : STACK_ROOT;

	/* Callers come before callees: a dict that says otherwise is damaged. */
	return parent < stack ? parent : STACK_ROOT;
}

static inline uint32_t call_stack_frame(const struct dict *d, uint32_t stack)
{
	return stack < d->stacks.nr ? d->stacks.at[stack].frame : DICT_NONE;
}

/* Whether the frame of a stack is the kernel's. */
static inline bool call_stack_in_kernel(const struct dict *d, uint32_t stack)
{
	uint32_t at = call_stack_frame(d, stack);

	return at < d->frames.nr && d->frames.at[at].image < d->images.nr &&
	       image_is_kernel(&d->images.at[d->frames.at[at].image]);
}

/* How the function of a stack's frame is to be found.  A return address may be the first one
 * behind its function, which ended with the call.  In the kernel it is taken as it is: an
 * interrupt may have come at the first instruction of a function, and nothing tells.  So is
 * what the kernel interrupted, of user space. */
static inline enum call_place call_stack_place(const struct dict *d, uint32_t stack,
					       uint32_t callee)
{
	if (callee == DICT_NONE || call_stack_in_kernel(d, stack) ||
	    call_stack_in_kernel(d, callee))
		return CALL_AT;
	return CALL_BEFORE;
}

/* The function of a frame of the view's dict that is the innermost one of a stack; VIEW_UNSET
 * when memory is short. */
uint32_t call_tree_leaf(struct profile *p, struct view *v, uint32_t frame);
/* The node of a stack of the view's dict: its callers by where the call is, its leaf by where
 * the sample is.  DICT_NONE when memory is short. */
uint32_t call_tree_of_stack(struct profile *p, struct view *v, uint32_t stack);
