/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/foreign/stack_tree.h"

#include <errno.h>
#include <string.h>

enum {
	MILLION = 1000000
};

int stack_tree_init(struct stack_tree *t)
{
	const struct stack_tree_node root = { STACK_TREE_NONE, STACK_TREE_NONE };

	*t = (struct stack_tree){ 0 };
	if (strtab_init(&t->names))
		return -ENOMEM;
	return vec_push(&t->nodes, root) ? 0 : -ENOMEM;
}

uint32_t stack_tree_name(struct stack_tree *t, struct foreign_word text)
{
	return text.len ? strtab_add_len(&t->names, text.at, text.len) : 0;
}

struct foreign_word stack_tree_text(const struct stack_tree *t, uint32_t name)
{
	const char *text = strtab_get(&t->names, name);

	return (struct foreign_word){ text, strlen(text) };
}

uint32_t stack_tree_frame(struct stack_tree *t, uint32_t name, uint32_t image)
{
	struct foreign_frame frame = { 0 };
	uint32_t found = map_get(&t->frame_by, name, image);

	if (found != MAP_NONE)
		return found;
	frame.name = stack_tree_text(t, name);
	frame.image = stack_tree_text(t, image);
	if (name == STRTAB_FAILED || image == STRTAB_FAILED ||
	    !vec_push(&t->frames, frame) ||
	    map_set(&t->frame_by, name, image, (uint32_t)t->frames.nr - 1))
		return STACK_TREE_NONE;
	return (uint32_t)t->frames.nr - 1;
}

uint32_t stack_tree_position(struct stack_tree *t, uint32_t name, uint32_t image,
			     const struct foreign_frame *position)
{
	uint32_t number = stack_tree_frame(t, name, image);
	struct foreign_frame *f;

	if (number == STACK_TREE_NONE)
		return number;
	f = &t->frames.at[number];
	f->kind = position->kind;
	f->offset = position->offset;
	f->build_id = position->build_id;
	return number;
}

uint32_t stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t frame)
{
	const struct stack_tree_node node = { parent, frame };
	uint32_t found;

	if (parent >= t->nodes.nr || frame >= t->frames.nr)
		return STACK_TREE_NONE;
	found = map_get(&t->node_by, parent, frame);
	if (found != MAP_NONE)
		return found;
	if (!vec_push(&t->nodes, node) ||
	    map_set(&t->node_by, parent, frame, (uint32_t)t->nodes.nr - 1))
		return STACK_TREE_NONE;
	return (uint32_t)t->nodes.nr - 1;
}

bool stack_tree_fill(struct stack_tree *t, uint32_t node, struct foreign_sample *s)
{
	const uint32_t id = node;

	t->stack.nr = 0;
	for (; node && t->stack.nr < FOREIGN_FRAMES_MAX;
	     node = t->nodes.at[node].parent)
		if (!vec_push(&t->stack, t->frames.at[t->nodes.at[node].frame]))
			return false;
	s->frames = t->stack.at;
	s->nr_frames = t->stack.nr;
	s->truncated = node;
	s->stack_id = id;
	return true;
}

int stack_tree_add_fraction(struct stack_tree *t, uint32_t node, uint32_t millionths,
			    uint32_t *ret_whole)
{
	*ret_whole = 0;
	if (!millionths)
		return 0;
	while (t->rests.nr <= node)
		if (!vec_push(&t->rests, MILLION / 2))
			return -ENOMEM;
	t->rests.at[node] += millionths;
	if (t->rests.at[node] >= MILLION) {
		t->rests.at[node] -= MILLION;
		*ret_whole = 1;
	}
	return 0;
}

void stack_tree_done(struct stack_tree *t)
{
	vec_done(&t->rests);
	strtab_done(&t->names);
	vec_done(&t->frames);
	vec_done(&t->nodes);
	map_done(&t->frame_by);
	map_done(&t->node_by);
	vec_done(&t->stack);
}
