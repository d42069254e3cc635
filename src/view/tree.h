/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - call trees of the selected samples: flame graphs, callers and callees of a function.
 * Layer: view. */
#pragma once
#include <stdint.h>

#include "view/selection.h"

enum view_tree_kind {
	VIEW_TREE_CALLS,   /* from the outermost functions to their callees */
	VIEW_TREE_CALLERS, /* from the functions of samples to their callers */
	VIEW_TREE_TIME,    /* calls, in order of time */
	/* Trees with one function as their root: */
	VIEW_TREE_FUNCTION_CALLEES,
	VIEW_TREE_FUNCTION_CALLERS
};

struct view_tree_node {
	uint32_t function; /* of the model */
	uint32_t up;       /* the caller is this many nodes before; 0: a root */
	uint64_t self;
	uint64_t total[VIEW_SIDES]; /* by recording, including callees */
};

struct view_tree_options {
	enum view_tree_kind kind;
	double min;        /* share of all samples; smaller nodes are left out */
	size_t limit;      /* maximum number of nodes */
	uint32_t function; /* of VIEW_TREE_FUNCTION_... */
};

/* Nodes in preorder. */
struct view_tree {
	VEC(struct view_tree_node) nodes;
	uint64_t total
		[VIEW_SIDES]; /* selected samples; of a function: with it on the stack */
	uint64_t omitted;     /* samples of nodes that were left out */
};

enum {
	VIEW_TREE_LIMIT = 20000 /* default of `limit` */
};

/* Makes the tree of the selected samples that `options` describe. Returns 0 or -ENOMEM; call
 * view_tree_done() in any case. */
int view_tree_make(struct view_tree *t, const struct view_selection *s,
		   const struct view_tree_options *options);
void view_tree_done(struct view_tree *t);

static inline uint64_t view_tree_total(const struct view_tree_node *n)
{
	return n->total[0] + n->total[1];
}

/* In time_tree.c: view_tree_make() for VIEW_TREE_TIME. */
int view_tree_make_by_time(struct view_tree *t, const struct view_selection *s,
			   const struct view_tree_options *options);
/* Removes the nodes with the fewest samples, so that at most `limit` remain. */
void view_tree_limit(struct view_tree *t, size_t limit);
