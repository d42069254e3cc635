/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_priv.h - shared by the text forms of a comparison: the table and the tree.
 * Layer: present; private to present/diff. */
#pragma once
#include <stddef.h>
#include <stdio.h>

#include "compare/comparison.h"

struct buf;
struct diff_view;

/* Writes the lines before the column titles: the recordings of both sides, the notes,
 * and the meaning of the values. */
void diff_text_sides(FILE *out, const struct diff_view *v);
/* Writes one line for each group of rows between which code moved. Returns 0 or -ENOMEM. */
int diff_text_moves(FILE *out, const struct diff_view *v);
/* Writes the numbers of changed, tested and hidden rows. `hidden` is the text after the number of
 * hidden rows. */
void diff_text_summary(FILE *out, const struct diff_view *v, size_t nr_hidden,
		       const char *hidden);
/* Returns the escape sequence for a verdict, or "". */
const char *diff_verdict_colour(const struct diff_view *v, enum verdict verdict);
/* Appends an escaped name in at least `width` columns, and at most `most` (0: unlimited). */
void diff_text_name(struct buf *out, const struct diff_view *v, const char *name,
		    size_t width, size_t most);
