/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_stacks.c - converts stacks of a dict to paths of the call tree. */
#include "aggregate/views/call_stacks.h"
#include "aggregate/profile/call_tree.h"
#include "aggregate/views/call_inlines.h"
#include "aggregate/views/view.h"

/* Returns the function at the address of a frame or, for a return address, just before it. */
static uint32_t call_stacks_function_at(struct profile *p, struct view *v, uint32_t at,
					enum call_position position)
{
	const struct dict *d = v->source.dict;
	const struct frame *f = at < d->frames.nr ? &d->frames.at[at] : NULL;

	if (!f) {
		v->damaged = view_function(p, v, DICT_NONE, 0);
		return v->damaged;
	}
	return view_function(p, v, f->image,
			     f->offset - (position == CALL_BEFORE && f->offset));
}

/* Like call_stacks_function_at(), with a cache by frame. */
static uint32_t call_stacks_frame_function(struct profile *p, struct view *v,
					   uint32_t at, enum call_position position)
{
	uint32_t *known = at < v->nr_functions_of[position]
				  ? &v->function_of[position][at]
				  : NULL;

	if (!known)
		return call_stacks_function_at(p, v, at, position);
	if (*known == VIEW_UNSET)
		*known = call_stacks_function_at(p, v, at, position);
	return *known;
}

uint32_t call_tree_leaf(struct profile *p, struct view *v, uint32_t frame)
{
	return call_stacks_frame_function(p, v, frame, CALL_AT);
}

/* Returns true if a stack has the same node for all callees that look it up with `position`. */
static bool call_stacks_is_kept(const struct dict *d, uint32_t stack,
				enum call_position position)
{
	return position == CALL_BEFORE || call_stack_in_kernel(d, stack);
}

static uint32_t call_stacks_add_line(struct profile *p, uint32_t node,
				     uint32_t function, const struct call_step *step)
{
	struct profile_function *f = &p->functions.at[function];

	if (step && f->line == DICT_NONE)
		f->line = step->start;
	return call_tree_line_node(&p->calls, node, function,
				   step ? step->line : DICT_NONE);
}

/* Adds a function at its line, followed by the inlined functions at theirs. */
static uint32_t call_stacks_add_lines(struct profile *p, uint32_t node,
				      uint32_t function, const struct call_step *own)
{
	node = call_stacks_add_line(p, node, function, own);
	for (uint32_t i = 1; own && i <= own->function && node != DICT_NONE; i++)
		node = call_stacks_add_line(p, node, own[i].function, &own[i]);
	return node;
}

/* Returns the node of a frame below `node`; DICT_NONE if memory is short. */
static uint32_t call_stacks_add_frame(struct profile *p, struct view *v, uint32_t node,
				      uint32_t at, enum call_position position)
{
	uint32_t function = call_stacks_frame_function(p, v, at, position);
	const struct call_step *inlined;
	size_t nr;

	if (function == VIEW_UNSET)
		return DICT_NONE;
	inlined = call_inlines_at(v->inlines, at, position, &nr);
	if (p->options.call_lines)
		return call_stacks_add_lines(
			p, node, function, call_inlines_own(v->inlines, at, position));
	node = call_tree_node(&p->calls, node, function);
	for (size_t i = 0; i < nr && node != DICT_NONE; i++)
		node = call_tree_node(&p->calls, node, inlined[i].function);
	return node;
}

/* Pushes the callers without a known node to v->path, up to the first known one, whose node it
 * returns. */
static uint32_t call_stacks_find_known(struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t callee = DICT_NONE;

	v->path.nr = 0;
	for (; stack >= STACK_FIRST && stack < d->stacks.nr;
	     stack = call_stack_parent(d, stack)) {
		if (v->node_of[stack] != VIEW_UNSET &&
		    call_stacks_is_kept(d, stack,
					call_stack_position(d, stack, callee)))
			return v->node_of[stack];
		if (!vec_push(&v->path, stack))
			return DICT_NONE;
		callee = stack;
	}
	return stack == STACK_TRUNCATED ? CALL_TRUNCATED : CALL_ROOT;
}

/* Like call_stacks_find_known(), but keeps only the innermost frames of a stack that exceeds
 * options.max_stack. */
static uint32_t find_innermost(struct view *v, uint32_t stack, uint32_t limit)
{
	const struct dict *d = v->source.dict;

	v->path.nr = 0;
	for (; stack >= STACK_FIRST && stack < d->stacks.nr;
	     stack = call_stack_parent(d, stack)) {
		if (v->path.nr == limit)
			return CALL_TRUNCATED;
		if (!vec_push(&v->path, stack))
			return DICT_NONE;
	}
	return stack == STACK_TRUNCATED ? CALL_TRUNCATED : CALL_ROOT;
}

uint32_t call_tree_of_stack(struct profile *p, struct view *v, uint32_t stack)
{
	const struct dict *d = v->source.dict;
	uint32_t limit = p->options.max_stack;
	uint32_t node = limit ? find_innermost(v, stack, limit)
			      : call_stacks_find_known(v, stack);

	/* The stack of the sample is damaged. */
	if (node < CALL_FIRST && !v->path.nr)
		return call_stacks_add_frame(p, v, CALL_ROOT, DICT_NONE, CALL_AT);
	for (size_t i = v->path.nr; i && node != DICT_NONE; i--) {
		uint32_t at = v->path.at[i - 1];
		enum call_position position = call_stack_position(
			d, at, i > 1 ? v->path.at[i - 2] : DICT_NONE);

		node = call_stacks_add_frame(p, v, node, call_stack_frame(d, at),
					     position);
		if (!limit && node != DICT_NONE && call_stacks_is_kept(d, at, position))
			v->node_of[at] = node;
	}
	return node;
}
