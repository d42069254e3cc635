/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - joins the call trees of the runs, and makes rows of the nodes of the joined tree.
 * Layer: compare; part of comparison.c.
 * Nodes of different runs are joined if their functions have the same name and image, and their
 * callers are joined.  The samples of small nodes are counted in their callers. */
#pragma once
#include <stdint.h>

struct comparison;

/* Fills c->nodes and c->rows. Replaces the cells of each run by cells whose items are rows. So
 * row_of[run], which this allocates and the caller frees, maps each number to itself. Returns 0 or
 * -ENOMEM. */
int tree_make_rows(struct comparison *c, uint32_t **row_of);
/* Updates the row numbers in c->nodes after the rows were sorted.  Returns 0 or -ENOMEM. */
int tree_renumber_rows(struct comparison *c);
