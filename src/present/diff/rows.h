/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rows.h - cells of a comparison that several writers show.
 * Layer: present; part of present/diff. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "compare/comparison.h"

struct buf;
struct diff_view;

/* Returns whether the row changed, or reaches the threshold on a side. */
bool diff_shows(const struct diff_view *v, const struct compare_row *row);
/* Returns the name of the row's binary: the name on the new side if the binary exists there. Omits
 * directories unless the view has long names.  "(total)" for the total. */
const char *diff_image(const struct diff_view *v, const struct compare_row *row);
const char *diff_symbol(const struct diff_view *v, const struct compare_row *row);
const char *diff_line(const struct diff_view *v, const struct compare_row *row);
/* Returns the relative change in percent; INFINITY if the base has no samples. */
double diff_relative(const struct compare_row *row);

enum {
	DIFF_RELATIVE_MAX = 24
};
/* Formats the relative change, such as "+5.3%"; or "-" if the base has no samples. */
void diff_format_relative(const struct compare_row *row,
			  char ret_text[DIFF_RELATIVE_MAX]);
/* Appends the names of the rows that lost and gained in a group of c->moves, in one line of
 * escaped names, such as "g, h -> f: together +0.12 points (-0.30 .. +0.54)". */
void diff_put_move(struct buf *out, const struct diff_view *v, size_t move);
/* Numbers of rows: shown ones, and all by verdict. */
struct diff_summary {
	size_t nr_shown;
	size_t nr_verdicts[VERDICT_COUNT];
};
struct diff_summary diff_summary(const struct diff_view *v);
/* Returns the number of rows with a verdict other than noise. */
size_t diff_nr_changed(const struct diff_summary *s);
