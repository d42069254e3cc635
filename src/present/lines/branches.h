/* SPDX-License-Identifier: GPL-2.0-or-later */
/* branches.h - draws the lines that connect the rows of a tree in text.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct screen;

/* A row of a tree. */
struct branch_row {
	uint32_t level; /* Indentation. The rows of a single chain share it. */
	bool chained;   /* continues the row above */
	bool is_last;   /* of its siblings */
};

struct branches {
	bool *more; /* by level: more siblings follow */
	size_t nr;
};

/* Appends the branches from the row above to this one, two columns per level.  Call it for each
 * row, callers first.  Returns 0 or -ENOMEM. */
int branches_put(struct branches *b, struct buf *out, const struct branch_row *row,
		 const struct screen *screen);
void branches_done(struct branches *b);
