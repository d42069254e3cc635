/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack_tree.h - the distinct names, frames and stacks of a profile, which samples refer to by
 * number.
 * Layer: format, private to its readers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/map.h"
#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "format/foreign/foreign.h"

enum {
	STACK_TREE_EMPTY = 0, /* the node of the empty stack */
	STACK_TREE_NONE = 0xffffffff
};

struct stack_tree_node {
	uint32_t parent; /* always a lower number */
	uint32_t frame;
};

struct stack_tree {
	struct strtab names;
	VEC(struct foreign_frame) frames;
	VEC(struct stack_tree_node) nodes;
	/* by node, in millionths: the rest of the sum of its fractions, plus one half for
	 * rounding */
	VEC(uint32_t) rests;
	struct map frame_by; /* (name, image), as numbers of `names` -> frame */
	struct map node_by;  /* (parent, frame) -> node */
	VEC(struct foreign_frame) stack; /* scratch space */
};

/* Initializes a tree. Returns 0 or -ENOMEM. */
int stack_tree_init(struct stack_tree *t);
/* Returns the number of a text, which is added if it is new, or STACK_TREE_NONE if memory is
 * short. */
uint32_t stack_tree_name(struct stack_tree *t, struct foreign_word text);
/* Returns the text of a number, which lives as long as the tree. */
struct foreign_word stack_tree_text(const struct stack_tree *t, uint32_t name);
/* Returns the number of the frame with this name and image, which is added if it is new, or
 * STACK_TREE_NONE if memory is short. */
uint32_t stack_tree_frame(struct stack_tree *t, uint32_t name, uint32_t image);
/* Like stack_tree_frame(), for a frame that is known by its position in the image; `name`
 * describes the position. */
uint32_t stack_tree_position(struct stack_tree *t, uint32_t name, uint32_t image,
			     const struct foreign_frame *position);
/* Returns the node of the stack that extends `parent` by a call of `frame`; adds it if it is
 * new. Returns STACK_TREE_NONE if memory is short, or if `parent` or `frame` is not valid. */
uint32_t stack_tree_child(struct stack_tree *t, uint32_t parent, uint32_t frame);
/* Sets the frames of `s` to the stack of `node`. They are valid until the next call. Returns false
 * if memory is short. */
bool stack_tree_fill(struct stack_tree *t, uint32_t node, struct foreign_sample *s);
/* Adds a fraction of a sample, in millionths, to the sum for `node`. Sets *ret_whole to 1 if the
 * rounded sum increases by 1, else to 0. Returns 0 or -ENOMEM. */
int stack_tree_add_fraction(struct stack_tree *t, uint32_t node, uint32_t millionths,
			    uint32_t *ret_whole);
void stack_tree_done(struct stack_tree *t);
