/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text_table.h - writes lines of columns in OProfile's layout: left-aligned, each padded to its
 * width and at least one blank, with nothing after the last column.
 * Layer: present; used for --by and --symbols. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/containers/vec.h"
#include "present/lines/cell_cache.h"
#include "present/lines/columns.h"
#include "present/lines/lines.h"
#include "present/lines/ratio.h"

struct present_options;
struct profile;

/* A column of this report, and the index of its counts column or key. */
struct chosen {
	const struct column *column;
	const char *title;
	size_t at;
	unsigned int width;
	/* Maximum width of the name in columns, on a terminal; 0: unlimited. */
	unsigned int most;
	struct cell_cache cache; /* for a key with few values */
	bool of_vma;
	/* The column shows samples or their percentage, so its cells without samples are equal. */
	bool of_count;
	/* Escape blanks in the names of this column: programs that read the details with source
	 * lines separate the columns by blanks. */
	bool of_word;
	/* The formatted cell of a column without samples; empty: not formatted yet. */
	struct buf none;
};

struct text_table {
	struct profile *p;
	const struct present_options *options;
	struct report_lines lines;
	VEC(struct chosen) chosen;
	VEC(struct ratio) ratios;
	bool on_screen;        /* use table_screen.h */
	size_t nr_counts;      /* leading chosen columns that address rows also have */
	bool only_counts;      /* all leading count columns have of_count */
	uint64_t *last_counts; /* counts of the previous line, by column of counts */
	struct buf last;       /* the cells of last_counts; empty: none */
	unsigned int vma_digits;
	uint64_t *sums; /* by column of counts, up to this line */
	/* Three per column of counts: own, cumulative, inclusive. */
	struct percent_memory *percents;
	struct buf text; /* output that is not yet written */
	struct buf raw;  /* on a terminal: a cell before escaping */
	struct buf cell; /* on a terminal: the escaped cell */
};

/* The functions with an int result return 0 or -ENOMEM. */

/* Chooses a column; `at` is the index of its counts column, key or ratio. */
int text_table_choose(struct text_table *t, const char *column, size_t at);
/* Chooses samples and percent of each column of counts, and the other requested count columns. */
int text_table_choose_counts(struct text_table *t);
/* Writes the header lines and titles.  Call it after all columns are chosen. */
int text_table_begin(struct text_table *t, FILE *out);
/* Writes a line with all columns. */
int text_table_line(struct text_table *t, FILE *out, const struct line *line);
/* Writes an address row: the first nr_counts columns, indented by two blanks.  `keys.vma` is the
 * key of the address column, with -g, `keys.source_line` is the key of the column after the
 * counts.  Percentages refer to `totals`. */
struct detail_keys {
	size_t vma;
	size_t source_line;
};
int text_table_detail(struct text_table *t, FILE *out, const struct line *line,
		      struct detail_keys keys, const uint64_t *totals,
		      const uint64_t *sums);
/* A line in a list around the main lines: the group of `line` with other counts. */
struct text_table_listed {
	const char *name;  /* replaces the text of the keys; NULL: use the keys */
	const char *marks; /* appended to the line */
	size_t indent;     /* blanks before the line */
	const uint64_t *counts;
	const uint64_t *periods; /* if they are shown */
	const uint64_t *totals;
	const uint64_t *sums;
};
int text_table_listed(struct text_table *t, FILE *out, const struct line *line,
		      const struct text_table_listed *listed);
/* Writes text that is not a row.  `text` includes its newline. */
int text_table_text(struct text_table *t, FILE *out, const char *text);
/* Returns the input of the columns for a line.  The caller sets `at`. */
struct column_cell text_table_cell(const struct text_table *t, const struct line *line);
/* Flushes the output.  Call it after the last line. */
int text_table_end(struct text_table *t, FILE *out);
void text_table_done(struct text_table *t);
