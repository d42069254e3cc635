/* SPDX-License-Identifier: GPL-2.0-or-later */
/* comparison.h - compares two groups of recordings ("sides") row by row, with intervals and
 * verdicts.
 * Layer: compare.  Not thread safe.  A side consists of runs, and a run consists of blocks of time.
 * Each run is added as counts of items (such as functions of images) in blocks.
 * comparison_finish() matches the items of different runs (images.h), and makes one row for
 * each distinct item. */
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
	uint32_t
		function; /* string: its name, to recognize renamed images; 0: no name */
	double samples;
};

/* A call-tree node of a run: a function, as called from the node `caller`. */
struct run_node {
	uint32_t caller; /* a node with a lower number; DICT_NONE: the root, node 0 */
	uint32_t item;
};

struct run_cell {
	uint32_t
		item; /* index in `items`; in a comparison of trees, index in `nodes` */
	uint32_t block;
	double count;
};

/* Conditions of a run. All but `start_ns` should be equal in all runs. Texts are numbers of the
 * comparison's strings; 0: unknown. */
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
	/* One element per block of time: its denominator. */
	VEC(double) blocks;
	VEC(struct run_image) images;
	VEC(struct run_item) items;
	VEC(struct run_node) nodes; /* only if options.is_tree */
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

/* A group of rows between which code moved because a function was inlined, renamed or split
 * (shifts.h). */
struct compare_move {
	double change; /* change of the group as a whole, in the unit of compare_row.change */
	struct limits interval;
	double p;
};

/* A node of the call tree that joins the trees of all runs. Its callers have lower numbers. */
struct compare_node {
	uint32_t caller; /* DICT_NONE: the root, node 0, which has no names */
	uint32_t image;  /* index in comparison.images */
	uint32_t name;
	/* Indices in comparison.rows. `row` includes the samples of callees, `self_row` does not. A
	 * node without own samples and with a single callee has the same `row` as that callee.
	 * DICT_NONE: no such row; the root has no `row`. */
	uint32_t row;
	uint32_t self_row;
	double count[COMPARE_SIDES]; /* samples in all runs, including callees */
};

struct compare_row {
	uint32_t image; /* index in comparison.images; DICT_NONE: the total */
	uint32_t name;  /* as in struct run_item; 0 if rows are images */
	uint32_t line;
	double count[COMPARE_SIDES];
	struct row_variation variation;
	/* Shares are in percent of the total of their side. Rates are in percent of the total of
	 * the base. */
	double value[COMPARE_SIDES];
	double change;
	struct limits interval;
	double p; /* NAN: not tested, for example because of too few samples */
	double q; /* lowest false-discovery rate at which the row counts as changed */
	enum verdict verdict;
	uint32_t move; /* index in comparison.moves, or DICT_NONE */
	/* Only in a tree: `node` is the outermost node that has this row. `parent` is its caller,
	 * or `node` itself if the row excludes callees. Rows with the same parent add up to the
	 * samples of the parent. */
	uint32_t node, parent;
	uint32_t number; /* position before the rows were sorted */
};

struct comparison_options {
	bool is_rate; /* denominators are times, work or another event; false: samples */
	bool by_image; /* rows are images instead of items */
	/* Rows are nodes of the call trees. A node can have two rows: including its callees, and
	 * excluding them. */
	bool is_tree;
	double least_share; /* tree: merge nodes with a smaller share on both sides into callers */
	double confidence; /* of the intervals, for example 0.95 */
	double discovery;  /* accepted false-discovery rate, for example 0.05 */
	double least_change; /* in the unit of compare_row.value: smaller changes are noise */
};

struct comparison {
	struct comparison_options options;
	struct strtab strings;
	VEC(struct compare_run) runs;
	VEC(struct compare_image) images;
	VEC(struct compare_move) moves;
	VEC(struct compare_node) nodes; /* only if options.is_tree */
	VEC(struct compare_row)
	rows; /* comparison_finish() sorts them: largest change first */
	struct compare_row total; /* only for rates; not in `rows` */
	/* Before rows are sorted, the first `nr_disjoint` ones contain each sample exactly once.
	 * The other rows are sums of these. */
	size_t nr_disjoint;
	struct usual_variation usual;
	size_t nr_runs[COMPARE_SIDES];
	double samples[COMPARE_SIDES];
	size_t nr_tested;
	double common; /* factor of the shares of unchanged rows (common.h); 1 for rates */
};

/* Prepares a comparison without runs. Returns 0 or -ENOMEM. */
int comparison_init(struct comparison *c, const struct comparison_options *options);
void comparison_done(struct comparison *c);
/* Adds an empty run, which the caller fills. The comparison owns it; the pointer is valid until the
 * next call. Returns NULL if memory is short. */
struct compare_run *comparison_add_run(struct comparison *c, enum compare_side side,
				       const char *name);
/* Matches the images of the runs, makes the rows, and sets their values, intervals and verdicts.
 * Call it once. Each side needs a run with samples. Returns 0 or -ENOMEM. */
int comparison_finish(struct comparison *c);
const char *verdict_name(enum verdict v);
