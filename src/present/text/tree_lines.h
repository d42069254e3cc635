/* tree_lines.h - the stacks of a profile as lines of a tree, function below function: what is
 * alike is one, the most samples come first, and what is too little is left out.
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
	TREE_CALLEES, /* from the outermost function, or the one in focus, inwards */
	TREE_CALLERS  /* from where the samples are, or the one in focus, outwards */
};

struct tree_line {
	enum tree_part part;
	uint32_t function; /* DICT_NONE: stacks were cut here */
	uint32_t above;    /* function of the line above it, DICT_NONE: none */
	uint32_t depth;    /* functions above it */
	uint32_t
		level; /* how far in it stands: a single chain stands below one another */
	bool chained; /* has the samples of the line above it, and is all of it */
	bool is_last; /* of its siblings */
	const uint64_t *samples; /* by column, as the next ones */
	const uint64_t *periods;
	const uint64_t *self; /* of TREE_CALLEES */
	const uint64_t *self_periods;
};

struct tree_how {
	const struct call_sums *sums;
	enum tree_part part;
	const uint8_t *focus; /* by function; NULL: all stacks */
	size_t lead;          /* the column that orders and that the threshold is of */
	uint64_t total;       /* samples of it */
	double threshold;     /* percent */
	bool chains;          /* fold single chains */
	int (*put)(void *ctx, const struct tree_line *line); /* 0 or an error */
	void *ctx;
};

/* Puts all lines of a part.  0, -ENOMEM, or what `put` returned. */
int tree_lines_put(struct profile *p, const struct tree_how *how);
