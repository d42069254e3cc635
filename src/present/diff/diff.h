/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.h - writes a comparison of two sides: as text, CSV, JSON, or Markdown.
 * Layer: present.  docs/diff.md describes the columns. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "present/lines/screen.h"

struct comparison;
struct compare_row;

enum diff_by {
	DIFF_BY_SYMBOL,
	DIFF_BY_IMAGE,
	DIFF_BY_LINE,
	DIFF_BY_STACK, /* the symbol of a row is its whole stack, outermost function first:
		       * main;f;g */
	DIFF_BY_TREE /* rows are nodes of the call tree */
};

struct diff_view {
	const struct comparison *comparison;
	enum diff_by by;
	const char *unit;         /* the 100 % of the percentages, as a text */
	const char *const *notes; /* notes about the data, printed before the table */
	size_t nr_notes;
	double threshold; /* percent; smaller unchanged rows are not shown */
	bool long_names;
	bool no_header;
	struct screen screen;
};

/* Each returns 0 or -ENOMEM.  The caller checks `out` with ferror(). */
int write_diff_text(FILE *out, const struct diff_view *v);
int write_diff_tree(FILE *out, const struct diff_view *v);
int write_diff_csv(FILE *out, const struct diff_view *v);
int write_diff_json(FILE *out, const struct diff_view *v);
int write_diff_markdown(FILE *out, const struct diff_view *v);
