/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree_lines.h - turns the stacks of a profile into lines of a tree.  Merges equal stacks, puts
 * the most samples first, and omits lines below the threshold.
 * Layer: present. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_sums;
struct err;
struct present_options;
struct profile;

enum tree_part {
	TREE_CALLEES, /* from the outermost or focused function to its callees */
	TREE_CALLERS  /* from the sampled or focused function to its callers */
};

struct tree_line {
	enum tree_part part;
	uint32_t function; /* DICT_NONE: the stacks were truncated here */
	/* The function of the parent line; DICT_NONE: there is no parent line. */
	uint32_t above;
	uint32_t depth; /* number of ancestor lines */
	/* Indentation level. All lines of a chain without branches have the same. */
	uint32_t level;
	bool chained;            /* has all samples of its parent line */
	bool is_last;            /* last of its siblings */
	const uint64_t *samples; /* by column, like the following */
	const uint64_t *periods;
	const uint64_t *self; /* only for TREE_CALLEES */
	const uint64_t *self_periods;
};

struct tree_how {
	const struct call_sums *sums;
	enum tree_part part;
	const uint8_t *focus; /* by function; NULL: all stacks */
	size_t lead;          /* the column that sets the order and the threshold */
	uint64_t total;       /* samples in the lead column */
	double threshold;     /* percent */
	bool chains;          /* fold single chains */
	int (*put)(void *ctx, const struct tree_line *line); /* returns 0 or an error */
	void *ctx;
};

/* Passes all lines of a part to `put`.  Returns 0, -ENOMEM, or the error of `put`. */
int tree_lines_put(struct profile *p, const struct tree_how *how);
