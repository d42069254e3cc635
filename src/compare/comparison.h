/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comparison.h - compares two sides of recordings row by row, with intervals and verdicts.
 * Layer: compare.  Not thread safe.  A side consists of runs, and a run consists of blocks of time.
 * Each run is added as counts of items (such as functions of images) in blocks.
 * comparison_finish() finds which items of different runs are the same (images.h), and makes a row
 * of each. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers/strtab.h"
#include "base/containers/vec.h"
#include "compare/variation.h"
#include "format/session/dict.h"

/* A binary in a run. */
struct run_image {
	uint32_t name; /* string of the comparison */
	struct build_id build_id;
	double samples;
	uint32_t same; /* index in comparison.images; set by images_match() */
};

/* A function or source line in a run. */
struct run_item {
	uint32_t image;
	/* Strings, as shown in a row; `line` is 0 if rows are functions, or if it is unknown. */
	uint32_t name;
	uint32_t line;
	uint32_t function; /* string, to recognize renamed images; 0: it has no name */
	double samples;
};

/* A function at its position in the call tree of a run. */
struct run_node {
	uint32_t caller; /* a node with a lower number; DICT_NONE: the root, node 0 */
	uint32_t item;
};

struct run_cell {
	uint32_t item; /* of a tree: the node where the samples are */
	uint32_t block;
	double count;
};

/* Properties of a run that should be equal for all runs.  Texts are numbers of the comparison's
 * strings; 0: unknown. */
struct run_facts {
	uint32_t hostname;
	uint32_t os_release;
	uint32_t cpu_desc;
	uint32_t event;
	uint64_t hz;       /* samples per second; 0: fixed period */
	uint64_t count;    /* period; 0: fixed frequency */
	uint64_t start_ns; /* since 1970 */
};

struct compare_run {
	enum compare_side side;
	uint32_t name; /* string: as the user typed it */
	struct run_facts facts;
	double samples;
	/* The denominator of each block; its number is the number of blocks. */
	VEC(double) blocks;
	VEC(struct run_image) images;
	VEC(struct run_item) items;
	VEC(struct run_node) nodes; /* only of a tree */
	VEC(struct run_cell) cells;
};

enum verdict {
	VERDICT_NOISE,
	VERDICT_SLOWER,
	VERDICT_FASTER,
	VERDICT_NEW,
	VERDICT_GONE,
	VERDICT_MOVED, /* the change is explained by other rows, see struct compare_move */
	VERDICT_TRANSIENT, /* only in a short part of a run */
	VERDICT_COUNT
};

/* A binary of the comparison: its name on each side. */
struct compare_image {
	uint32_t names[COMPARE_SIDES]; /* strings; "": not on that side */
};

/* Rows among which code moved: a function was inlined, renamed or split (shifts.h). */
struct compare_move {
	double change; /* change of the group as a whole, in the unit of compare_row.change */
	struct limits interval;
	double p;
};

/* A function at its position in the call trees of both sides.  Its callers have lower numbers. */
struct compare_node {
	uint32_t caller; /* DICT_NONE: the root, node 0, which has no names */
	uint32_t image;  /* index in comparison.images */
	uint32_t name;
	/* Index in comparison.rows: of the samples with those of callees, and without.  If a single
	 * callee has all samples, both nodes refer to its row.  DICT_NONE: none, as for all samples
	 * of the root. */
	uint32_t row;
	uint32_t self_row;
	double count[COMPARE_SIDES]; /* samples of all runs, with those of callees */
};

struct compare_row {
	uint32_t image; /* index in comparison.images; DICT_NONE: the total */
	uint32_t name;  /* as in struct run_item; 0 if rows are images */
	uint32_t line;
	double count[COMPARE_SIDES];
	struct row_variation variation;
	/* In percent of the base's total; if the comparison is of shares, in percent of each
	 * side's total. */
	double value[COMPARE_SIDES];
	double change;
	struct limits interval;
	double p; /* NAN: too few samples for a test */
	double q; /* lowest false-discovery rate at which the row counts as changed */
	enum verdict verdict;
	uint32_t move; /* index in comparison.moves, or DICT_NONE */
	/* Only of a tree: the outermost node with this row, and the node whose samples are those of
	 * all rows with the same parent. */
	uint32_t node, parent;
	uint32_t number; /* position before the rows were sorted */
};

struct comparison_options {
	bool is_rate;  /* denominators are not samples: changes of all rows are real */
	bool by_image; /* rows are images instead of items */
	/* Rows are nodes of the call trees, each with the samples of its callees and without. */
	bool is_tree;
	double least_share; /* of a node on either side; smaller ones are parts of their callers */
	double confidence;   /* of the intervals; 0.95 */
	double discovery;    /* false-discovery rate; 0.05 */
	double least_change; /* in the unit of `value`: smaller changes are noise */
};

struct comparison {
	struct comparison_options options;
	struct strtab strings;
	VEC(struct compare_run) runs;
	VEC(struct compare_image) images;
	VEC(struct compare_move) moves;
	VEC(struct compare_node) nodes; /* only of a tree */
	VEC(struct compare_row)
	rows; /* largest change first; the total is not among them */
	struct compare_row total; /* only for rates */
	/* The first rows before they were sorted, which together have each sample once.  Others are
	 * sums of these. */
	size_t nr_disjoint;
	struct usual_variation usual;
	size_t nr_runs[COMPARE_SIDES];
	double samples[COMPARE_SIDES];
	size_t nr_tested;
	double common; /* factor by which unchanged rows differ; 1 for rates */
};

/* Prepares a comparison without runs. Returns 0 or -ENOMEM. */
int comparison_init(struct comparison *c, const struct comparison_options *options);
void comparison_done(struct comparison *c);
/* Adds an empty run, which the caller fills; valid until the next call.  NULL: no memory. */
struct compare_run *comparison_add_run(struct comparison *c, enum compare_side side,
				       const char *name);
/* Makes the rows.  Call it once; each side needs a run with samples.  Returns 0 or -ENOMEM. */
int comparison_finish(struct comparison *c);
const char *verdict_name(enum verdict v);
