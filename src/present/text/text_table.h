/* text_table.h - lines of columns as OProfile sets them: left-aligned, each padded to its
 * width and at least one blank, nothing behind the last (oprofile-behaviour.md 1.1.4).
 * Layer: present; what --by and --symbols are written with. */
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

/* A column of this report: what, and of which column of counts or which key. */
struct chosen {
	const struct column *column;
	const char *title;
	size_t at;
	unsigned int width;
	unsigned int most; /* columns of the screen that a name may take; 0: any */
	struct cell_cache cache; /* of a key whose values are few */
	bool of_vma;
	bool of_count;   /* shows samples or their share: of none the same everywhere */
	struct buf none; /* its cell then; empty: not made yet */
};

struct text_table {
	struct profile *p;
	const struct present_options *options;
	struct report_lines lines;
	VEC(struct chosen) chosen;
	VEC(struct ratio) ratios;
	bool on_screen;   /* table_screen.h */
	size_t nr_counts; /* of the chosen ones, what stands in rows of addresses, too */
	bool only_counts;      /* these are of_count, all of them */
	uint64_t *last_counts; /* by column of counts: of the line before, */
	struct buf last;       /* and their cells; empty: there are none */
	unsigned int vma_digits;
	uint64_t *sums;                  /* by column of counts, of the lines so far */
	struct percent_memory *percents; /* two for each column of counts */
	struct buf text;                 /* lines that are still to be written */
	struct buf raw;                  /* on a screen: a cell as it is, */
	struct buf cell; /* and without what could command the terminal */
};

/* All return 0 or -ENOMEM. */
int text_table_choose(struct text_table *t, const char *column, size_t at);
/* Samples and percent of each column of counts, and their sums if asked for. */
int text_table_choose_counts(struct text_table *t);
/* After all columns are chosen: the header lines and the titles. */
int text_table_begin(struct text_table *t, FILE *out);
/* A line with all columns. */
int text_table_line(struct text_table *t, FILE *out, const struct line *line);
/* A line with the first nr_counts columns, two blanks further in.  `keys.vma` is the key that
 * stands in the column of addresses, `keys.source_line` the one behind the counts, with -g;
 * shares are of `totals`. */
struct detail_keys {
	size_t vma;
	size_t source_line;
};
int text_table_detail(struct text_table *t, FILE *out, const struct line *line,
		      struct detail_keys keys, const uint64_t *totals,
		      const uint64_t *sums);
/* A line of a list that stands around the lines: about the group of `line` with other counts. */
struct text_table_listed {
	const char *name;  /* in place of what the keys say; NULL: that */
	const char *marks; /* behind it */
	size_t indent;     /* blanks in front */
	const uint64_t *counts;
	const uint64_t *periods; /* where they are shown */
	const uint64_t *totals;
	const uint64_t *sums;
};
int text_table_listed(struct text_table *t, FILE *out, const struct line *line,
		      const struct text_table_listed *listed);
/* A line that is no row, with its newline. */
int text_table_text(struct text_table *t, FILE *out, const char *text);
/* What the columns print of a line; `at` is left to be set. */
struct column_cell text_table_cell(const struct text_table *t, const struct line *line);
/* Behind the last line. */
int text_table_end(struct text_table *t, FILE *out);
void text_table_done(struct text_table *t);
