/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - joins the call trees of the runs, and makes rows of its nodes.
 * Layer: compare; part of comparison.c.
 * Nodes are the same if their functions have the same name and image, and their callers are the
 * same nodes.  The samples of small nodes are counted in their callers. */
#pragma once
#include <stdint.h>

struct comparison;

/* Fills c->nodes and c->rows.  Replaces the cells of the runs by cells of rows, so row_of[run]
 * becomes the identity.  Returns 0 or -ENOMEM. */
int tree_make_rows(struct comparison *c, uint32_t **row_of);
/* Corrects the rows of nodes after the rows were sorted.  Returns 0 or -ENOMEM. */
int tree_renumber_rows(struct comparison *c);
