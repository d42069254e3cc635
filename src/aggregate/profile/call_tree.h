/* call_tree.h - who called whom: functions from the outermost one inwards.
 * Layer: aggregate.  A stack of a profile is the number of its innermost node. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/pairs.h"
#include "base/containers/vec.h"

/* Not nodes of a function: what the outermost ones have as caller. */
enum {
	CALL_ROOT = 0,
	CALL_TRUNCATED = 1, /* the callers exist, but are not known */
	CALL_FIRST = 2
};

struct call_node {
	uint32_t caller;   /* a node with a lower number */
	uint32_t function; /* of the profile; DICT_NONE in the two above */
};

struct call_tree {
	VEC(struct call_node) nodes;
	VEC(uint32_t) lines;   /* of nodes made with call_tree_line_node(): as given */
	struct pairs lines_by; /* (function, line): a number for `by` */
	struct pairs
		by; /* (caller, function), but for nodes right behind their callers */
};

/* The node, old or new, of a function called from `caller`; DICT_NONE when memory is short. */
uint32_t call_tree_node(struct call_tree *t, uint32_t caller, uint32_t function);
/* The same where a function has a node for each line of its that calls: in a tree of such nodes
 * alone. */
uint32_t call_tree_line_node(struct call_tree *t, uint32_t caller, uint32_t function,
			     uint32_t line);
/* The line of a node, DICT_NONE where there are none. */
uint32_t call_tree_line(const struct call_tree *t, uint32_t node);
void call_tree_done(struct call_tree *t);

struct profile;

/* "outermost;...;innermost" of a node, as flame graphs are made of ("folded"): semicolons and
 * control characters in names are replaced, code without a name is its image in brackets, and
 * what is truncated begins with "[truncated]".  Good until the call after the next one;
 * "" when memory is short. */
const char *call_tree_text(struct profile *p, uint32_t node);
