/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - puts the nodes of a compared call tree into the order in which they are shown.
 * Layer: present; part of present/diff. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/containers/vec.h"
#include "compare/comparison.h"
#include "present/lines/branches.h"

struct diff_view;

enum diff_tree_order {
	DIFF_TREE_BY_SHARE, /* the larger share of the two sides; largest first */
	DIFF_TREE_BY_NAME
};

struct diff_tree_line {
	uint32_t node;  /* index in comparison.nodes */
	uint32_t depth; /* number of callers */
	struct branch_row branch;
};

struct diff_tree {
	VEC(struct diff_tree_line) lines; /* each is followed by its callees */
	size_t nr_hidden;                 /* nodes that are below the threshold */
};

/* Lists the nodes for which diff_shows() is true, and their callers; without the root.
 * Returns 0 or -ENOMEM.  Call diff_tree_done() in either case. */
int diff_tree_make(struct diff_tree *t, const struct diff_view *v,
		   enum diff_tree_order order);
void diff_tree_done(struct diff_tree *t);
/* Returns the row of a node, with the names of the node. */
struct compare_row diff_tree_row(const struct diff_view *v, uint32_t node);
/* Returns the row of a node's samples without those of callees; NULL: it has none. */
const struct compare_row *diff_tree_self(const struct diff_view *v, uint32_t node);
