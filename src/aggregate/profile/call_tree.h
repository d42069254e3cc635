/* SPDX-License-Identifier: GPL-2.0-or-later */
/* call_tree.h - a call tree: functions from the outermost one to its callees.
 * Layer: aggregate.  A stack of a profile is the number of its innermost node. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

/* Roots, which are not functions.  They are the callers of the outermost functions. */
enum {
	CALL_ROOT = 0,
	CALL_TRUNCATED = 1, /* the callers exist, but are unknown */
	CALL_FIRST = 2
};

struct call_node {
	uint32_t caller;   /* a node with a lower number */
	uint32_t function; /* of the profile; DICT_NONE in the roots */
};

struct call_tree {
	VEC(struct call_node) nodes;
	VEC(uint32_t) lines;   /* by node, from call_tree_line_node() */
	struct pairs lines_by; /* (function, line): a number for `by` */
	/* (caller, function) -> node, except for nodes directly after their callers */
	struct pairs by;
};

/* Returns the new or existing node of a function called from `caller`; DICT_NONE if memory is
 * short. */
uint32_t call_tree_node(struct call_tree *t, uint32_t caller, uint32_t function);
/* Returns the node for a calling line of a function.  A tree must use either only this function
 * or only call_tree_node(). */
uint32_t call_tree_line_node(struct call_tree *t, uint32_t caller, uint32_t function,
			     uint32_t line);
/* Returns the line of a node, or DICT_NONE if nodes have no lines. */
uint32_t call_tree_line(const struct call_tree *t, uint32_t node);
void call_tree_done(struct call_tree *t);

struct profile;

/* Returns "outermost;...;innermost" for a node, as flame graph tools read it ("folded").
 * Replaces semicolons and control characters in names, uses "[image]" for code without a name,
 * and puts "[truncated]" before truncated stacks.  The text is valid until the second next call.
 * Returns "" if memory is short. */
const char *call_tree_text(struct profile *p, uint32_t node);
