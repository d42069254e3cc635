/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call trees of runs are joined, and the intervals of their nodes contain the true change as often
 * as they promise, for simulated runs (simulate.h): rows of a tree are sums of other rows. */
#include "compare/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/comparison.h"
#include "simulate.h"
#include "unit.h"

enum {
	TRUTH_RUNS = 20000
};

static const struct comparison_options tree_options = { .is_tree = true,
							.confidence = 0.95,
							.discovery = 0.05 };

static uint32_t text(struct comparison *c, const char *s)
{
	const uint32_t number = strtab_add(&c->strings, s);

	assert_int_not_equal(number, STRTAB_FAILED);
	return number;
}

/* Adds a node to the call tree of a run with one image. */
static void add_node(struct comparison *c, struct compare_run *run, uint32_t caller,
		     const char *name)
{
	const struct run_item item = { .name = text(c, name),
				       .function = text(c, name) };
	const struct run_node node = { caller, (uint32_t)run->items.nr };

	assert_true(vec_push(&run->items, item));
	assert_true(vec_push(&run->nodes, node));
}

static struct compare_run *begin_run(struct comparison *c, enum compare_side side)
{
	struct compare_run *run = comparison_add_run(c, side, "run");
	const struct run_image image = { .name = text(c, "/p") };

	assert_non_null(run);
	assert_true(vec_push(&run->images, image));
	add_node(c, run, DICT_NONE, "");
	return run;
}

/* Sets the sums of a run from its cells. */
static void end_run(struct compare_run *run)
{
	for (size_t i = 0; i < run->cells.nr; i++) {
		const struct run_cell *cell = &run->cells.at[i];

		run->items.at[run->nodes.at[cell->item].item].samples += cell->count;
		run->images.at[0].samples += cell->count;
		run->samples += cell->count;
	}
}

/* ---- trees that are written down ---- */

/* A stack with its samples in each block: "main;f;g". */
struct made_stack {
	const char *path;
	double count;
};

enum {
	BLOCKS = 40
};

/* Returns the node of a function below `caller`, which is new unless it exists. */
static uint32_t node_below(struct comparison *c, struct compare_run *run,
			   uint32_t caller, const char *name)
{
	for (uint32_t i = 1; i < run->nodes.nr; i++) {
		const struct run_node *node = &run->nodes.at[i];

		if (node->caller == caller &&
		    run->items.at[node->item].name == text(c, name))
			return i;
	}
	add_node(c, run, caller, name);
	return (uint32_t)run->nodes.nr - 1;
}

static void add_stack(struct comparison *c, struct compare_run *run,
		      const struct made_stack *from)
{
	char copy[64], *rest = copy, *name;
	uint32_t node = 0;

	snprintf(copy, sizeof(copy), "%s", from->path);
	while ((name = strsep(&rest, ";")))
		node = node_below(c, run, node, name);
	/* The last block comes first: cells have any order. */
	for (uint32_t b = BLOCKS; b-- > 0;) {
		const struct run_cell cell = { node, b,
					       from->count + (b % 2 ? 1 : -1) };

		assert_true(vec_push(&run->cells, cell));
		run->blocks.at[b] += cell.count;
	}
}

static void add_tree(struct comparison *c, enum compare_side side,
		     const struct made_stack *stacks, size_t nr)
{
	struct compare_run *run = begin_run(c, side);

	for (size_t i = 0; i < BLOCKS; i++)
		assert_true(vec_push(&run->blocks, 0.0));
	for (size_t i = 0; i < nr; i++)
		add_stack(c, run, &stacks[i]);
	end_run(run);
}

static struct comparison begin(double least_share)
{
	struct comparison c;

	assert_int_equal(comparison_init(&c, &tree_options), 0);
	c.options.least_share = least_share;
	return c;
}

/* Returns the node of a path, or NULL. */
static const struct compare_node *node_of(const struct comparison *c, const char *path)
{
	char copy[64], *rest = copy, *name;
	uint32_t at = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((name = strsep(&rest, ";"))) {
		uint32_t found = 0;

		for (uint32_t i = 1; i < c->nodes.nr; i++)
			if (c->nodes.at[i].caller == at &&
			    !strcmp(strtab_get(&c->strings, c->nodes.at[i].name), name))
				found = i;
		if (!found)
			return NULL;
		at = found;
	}
	return &c->nodes.at[at];
}

static void expect_counts(const struct comparison *c, const char *path, double base,
			  double new)
{
	const struct compare_node *node = node_of(c, path);

	assert_non_null(node);
	assert_true(node->count[SIDE_BASE] == base * BLOCKS);
	assert_true(node->count[SIDE_NEW] == new *BLOCKS);
	assert_int_not_equal(node->row, DICT_NONE);
	assert_true(c->rows.at[node->row].count[SIDE_BASE] == base * BLOCKS);
	assert_true(c->rows.at[node->row].count[SIDE_NEW] == new *BLOCKS);
}

static const struct made_stack stacks_before[] = {
	{ "main", 10 },     { "main;f", 20 },     { "main;f;g", 30 },
	{ "main;h;g", 40 }, { "main;h;old", 20 }, { "main;one;two;three", 80 },
};
static const struct made_stack stacks_after[] = {
	{ "main;h;g", 40 }, { "main;f;g", 60 },           { "main;f", 20 },
	{ "main", 10 },     { "main;one;two;three", 80 }, { "main;h;tiny", 2 },
};

static void nodes_have_the_samples_of_callees(void **state)
{
	struct comparison c = begin(0);

	(void)state;
	add_tree(&c, SIDE_BASE, stacks_before, COUNT_OF(stacks_before));
	add_tree(&c, SIDE_NEW, stacks_after, COUNT_OF(stacks_after));
	assert_int_equal(comparison_finish(&c), 0);
	/* The root, and the functions of both sides at their positions. */
	assert_int_equal(c.nodes.nr, 11);
	expect_counts(&c, "main", 200, 212);
	expect_counts(&c, "main;f", 50, 80);
	expect_counts(&c, "main;f;g", 30, 60);
	expect_counts(&c, "main;h", 60, 42);
	expect_counts(&c, "main;h;g", 40, 40);
	expect_counts(&c, "main;h;old", 20, 0);
	expect_counts(&c, "main;h;tiny", 0, 2);
	assert_int_equal(c.rows.at[node_of(&c, "main;h;old")->row].verdict,
			 VERDICT_GONE);
	comparison_done(&c);
}

static void nodes_have_a_row_without_callees(void **state)
{
	struct comparison c = begin(0);
	const struct compare_node *node;

	(void)state;
	add_tree(&c, SIDE_BASE, stacks_before, COUNT_OF(stacks_before));
	add_tree(&c, SIDE_NEW, stacks_after, COUNT_OF(stacks_after));
	assert_int_equal(comparison_finish(&c), 0);
	node = node_of(&c, "main;f");
	assert_int_not_equal(node->row, node->self_row);
	assert_true(c.rows.at[node->self_row].count[SIDE_BASE] == 20 * BLOCKS);
	assert_true(c.rows.at[node->self_row].count[SIDE_NEW] == 20 * BLOCKS);
	assert_ptr_equal(&c.nodes.at[c.rows.at[node->self_row].parent], node);
	node = node_of(&c, "main;f;g");
	assert_int_equal(node->row, node->self_row);
	assert_ptr_equal(&c.nodes.at[c.rows.at[node->row].parent],
			 node_of(&c, "main;f"));
	/* A function without samples that has a single callee has the row of the callee. */
	assert_int_equal(node_of(&c, "main;one")->row,
			 node_of(&c, "main;one;two;three")->row);
	assert_int_equal(node_of(&c, "main;one")->self_row, DICT_NONE);
	assert_ptr_equal(&c.nodes.at[c.rows.at[node_of(&c, "main;one")->row].node],
			 node_of(&c, "main;one"));
	/* Rows without callees have each sample once. */
	assert_int_equal(c.nr_disjoint, 7);
	comparison_done(&c);
}

/* The samples of small nodes remain in the sums of their callers. */
static void small_nodes_are_parts_of_their_callers(void **state)
{
	struct comparison c = begin(0.05);

	(void)state;
	add_tree(&c, SIDE_BASE, stacks_before, COUNT_OF(stacks_before));
	add_tree(&c, SIDE_NEW, stacks_after, COUNT_OF(stacks_after));
	assert_int_equal(comparison_finish(&c), 0);
	assert_null(node_of(&c, "main;h;tiny"));
	assert_non_null(node_of(&c, "main;h;old"));
	expect_counts(&c, "main;h", 60, 42);
	assert_true(c.rows.at[node_of(&c, "main;h")->self_row].count[SIDE_NEW] ==
		    2 * BLOCKS);
	expect_counts(&c, "main", 200, 212);
	comparison_done(&c);
}

/* ---- simulated trees ---- */

/* Parts per thousand, without the samples of callees. */
static const double base_weights[SIMULATED_ROWS] = {
	30, 120, 80, 60, 40, 10, 30, 25, 20, 15, 12, 110,
	8,  70,  6,  50, 5,  4,  90, 3,  60, 2,  40, 100,
};
/* The same weights, except for some rows. */
static const double new_weights[SIMULATED_ROWS] = {
	30, 120, 80, 75, 40, 10, 30, 25, 20, 15, 12, 110,
	8,  50,  6,  50, 5,  4,  90, 3,  60, 3,  40, 100,
};

enum {
	OUTERMOST = 2 /* functions without a caller */
};

static bool has_caller(size_t function)
{
	return function >= OUTERMOST;
}

static size_t caller_of(size_t function)
{
	return (function - OUTERMOST) / 2;
}

/* Adds the values of callees to those of their callers. */
static void add_callees(double values[SIMULATED_ROWS])
{
	for (size_t i = SIMULATED_ROWS; i-- > OUTERMOST;)
		values[caller_of(i)] += values[i];
}

/* How functions differ from run to run. */
enum differ {
	DIFFER_ALONE,
	DIFFER_WITH_CALLEES /* the callees of a function that is called more often also are */
};

struct simulated_tree {
	const char *name;
	enum differ differ;
	size_t nr_runs; /* on each side */
	size_t nr_comparisons;
	double between, within;
};

static struct simulation simulation_of(const struct simulated_tree *t)
{
	return (struct simulation){
		.seed = 88172645463325252ULL + t->nr_runs,
		.samples = 10000,
		.nr_blocks = 100,
		.between_runs = t->between,
		.within_run = t->within,
		.weights = { base_weights, new_weights },
	};
}

/* Makes the shares of a run without those of callees. */
static void tree_shares(struct simulation *s, const struct simulated_tree *t,
			enum compare_side side, double ret_shares[SIMULATED_ROWS])
{
	static const double ones[SIMULATED_ROWS] = {
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	};
	const double *weights = s->weights[side];
	double sum = 0;

	if (t->differ == DIFFER_ALONE) {
		simulate_shares(s, side, ret_shares);
		return;
	}
	s->weights[side] = ones;
	simulate_shares(s, side, ret_shares);
	s->weights[side] = weights;
	for (size_t i = 0; i < SIMULATED_ROWS; i++)
		ret_shares[i] *=
			has_caller(i) ? ret_shares[caller_of(i)] * SIMULATED_ROWS : 1;
	for (size_t i = 0; i < SIMULATED_ROWS; i++) {
		ret_shares[i] *= weights[i];
		sum += ret_shares[i];
	}
	for (size_t i = 0; i < SIMULATED_ROWS; i++)
		ret_shares[i] /= sum;
}

static void add_simulated(struct comparison *c, struct simulation *s,
			  enum compare_side side, const double shares[SIMULATED_ROWS])
{
	struct compare_run *run = begin_run(c, side);
	struct count_sums sums[SIMULATED_ROWS];
	struct run_sums whole;

	for (size_t i = 0; i < SIMULATED_ROWS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%zu", i);
		add_node(c, run, has_caller(i) ? 1 + (uint32_t)caller_of(i) : 0, name);
	}
	s->cells = run;
	simulate_run(s, side, shares, &whole, sums, 1);
	for (size_t i = 0; i < run->cells.nr; i++)
		run->cells.at[i].item++; /* node 0 is the root */
	end_run(run);
}

/* Compares runs; `ret_change` gets the true changes of these runs, with callees. */
static void compare_trees(struct comparison *c, struct simulation *s,
			  const struct simulated_tree *t,
			  double ret_change[SIMULATED_ROWS])
{
	memset(ret_change, 0, SIMULATED_ROWS * sizeof(*ret_change));
	*c = begin(0);
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		for (size_t i = 0; i < t->nr_runs; i++) {
			double shares[SIMULATED_ROWS];

			tree_shares(s, t, side, shares);
			add_simulated(c, s, side, shares);
			for (size_t r = 0; r < SIMULATED_ROWS; r++)
				ret_change[r] +=
					side == SIDE_NEW ? shares[r] : -shares[r];
		}
	}
	assert_int_equal(comparison_finish(c), 0);
	add_callees(ret_change);
}

/* The mean change over very many runs. */
static void find_truth(struct simulation *s, const struct simulated_tree *t,
		       double truth[SIMULATED_ROWS])
{
	memset(truth, 0, SIMULATED_ROWS * sizeof(*truth));
	for (int i = 0; i < TRUTH_RUNS; i++) {
		double before[SIMULATED_ROWS], after[SIMULATED_ROWS];

		tree_shares(s, t, SIDE_BASE, before);
		tree_shares(s, t, SIDE_NEW, after);
		for (size_t r = 0; r < SIMULATED_ROWS; r++)
			truth[r] += (after[r] - before[r]) / TRUTH_RUNS;
	}
	add_callees(truth);
}

struct hits {
	size_t hits, nr;
};

static double hits_percent(const struct hits *h)
{
	return 100.0 * (double)h->hits / (double)h->nr;
}

/* Counts the intervals of functions with and without callees that contain the truth. */
static void count_hits(const struct comparison *c, const double *truth,
		       struct hits *with, struct hits *without)
{
	for (size_t i = 1; i < c->nodes.nr; i++) {
		const struct compare_node *node = &c->nodes.at[i];
		const struct compare_row *row = &c->rows.at[node->row];
		const size_t function =
			strtoul(strtab_get(&c->strings, node->name), NULL, 10);
		struct hits *h = node->row == node->self_row ? without : with;

		h->hits += row->interval.low <= 100 * truth[function] &&
			   100 * truth[function] <= row->interval.high;
		h->nr++;
	}
}

/* Tests more than 10 000 intervals of functions with callees.  With several runs, they can contain
 * the truth more often than promised: how much sums vary is known less well. */
static void intervals_of_nested_rows_contain_the_truth(void **state)
{
	static const struct simulated_tree cases[] = {
		{ "1 run", DIFFER_WITH_CALLEES, 1, 920, 0.03, 0.5 },
		{ "3 runs", DIFFER_WITH_CALLEES, 3, 920, 0.03, 0.5 },
		{ "5 runs", DIFFER_WITH_CALLEES, 5, 920, 0.03, 0.5 },
		{ "3 runs, independent functions", DIFFER_ALONE, 3, 300, 0.05, 0.5 },
		{ "5 runs, independent functions", DIFFER_ALONE, 5, 300, 0.05, 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct simulation s = simulation_of(&cases[i]);
		struct hits with = { 0 }, without = { 0 };
		double truth[SIMULATED_ROWS], change[SIMULATED_ROWS];

		find_truth(&s, &cases[i], truth);
		for (size_t j = 0; j < cases[i].nr_comparisons; j++) {
			struct comparison c;

			compare_trees(&c, &s, &cases[i], change);
			/* A single run does not show how runs differ, so its interval is for the
			 * change of these runs. */
			count_hits(&c, cases[i].nr_runs > 1 ? truth : change, &with,
				   &without);
			comparison_done(&c);
		}
		print_message(
			"# %s: with callees %.2f %% of %zu, without %.2f %% of %zu\n",
			cases[i].name, hits_percent(&with), with.nr,
			hits_percent(&without), without.nr);
		assert_true(hits_percent(&with) >= 94);
		assert_true(fabs(hits_percent(&without) - 95) <= 1);
	}
}

/* Comparisons without any change: at most 5 % of the rows are false.  About 5 % of the comparisons
 * have some; 200 of them show that to 3 %. */
static void unchanged_nested_rows_are_noise(void **state)
{
	static const struct simulated_tree cases[] = {
		{ "1 run", DIFFER_WITH_CALLEES, 1, 200, 0, 0.5 },
		{ "3 runs", DIFFER_WITH_CALLEES, 3, 200, 0.03, 0.5 },
		{ "5 runs", DIFFER_WITH_CALLEES, 5, 200, 0.03, 0.5 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct simulation s = simulation_of(&cases[i]);
		size_t with_some = 0, changed = 0, rows = 0;

		s.weights[SIDE_NEW] = base_weights;
		for (size_t j = 0; j < cases[i].nr_comparisons; j++) {
			double change[SIMULATED_ROWS];
			struct comparison c;
			size_t nr = 0;

			compare_trees(&c, &s, &cases[i], change);
			for (size_t r = 0; r < c.rows.nr; r++)
				nr += c.rows.at[r].verdict != VERDICT_NOISE;
			rows += c.rows.nr;
			changed += nr;
			with_some += nr > 0;
			comparison_done(&c);
		}
		print_message(
			"# %s: %zu false rows of %zu, in %zu of %zu comparisons\n",
			cases[i].name, changed, rows, with_some,
			cases[i].nr_comparisons);
		assert_true(with_some * 100 <= 8 * cases[i].nr_comparisons);
		assert_true(changed * 20 <= rows);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(nodes_have_the_samples_of_callees),
		cmocka_unit_test(nodes_have_a_row_without_callees),
		cmocka_unit_test(small_nodes_are_parts_of_their_callers),
		cmocka_unit_test(intervals_of_nested_rows_contain_the_truth),
		cmocka_unit_test(unchanged_nested_rows_are_noise),
	};

	return UNIT_RUN(cases);
}
