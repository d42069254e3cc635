/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/map.h"
#include "base/containers/sort_keys.h"
#include "compare/comparison.h"

struct tree_making {
	struct comparison *c;
	struct map node_by;
	uint32_t **node_of; /* by run: the joined node of each node */
	uint32_t *
		kept_of; /* by joined node: its index in c->nodes; if dropped, its caller's */
	uint8_t *has_self; /* by node of c->nodes: whether it has own samples */
	uint32_t *
		sum_of; /* by node of c->nodes: its row if that is a sum of rows, or DICT_NONE */
	double *sums; /* by node of c->nodes: its samples in the current block */
	VEC(uint32_t) touched; /* nodes whose sum is not 0 */
};

/* ---- nodes ---- */

/* Finds or adds the joined node. Returns its index, or DICT_NONE if memory is short. */
static uint32_t tree_find_node(struct tree_making *m, const struct compare_node *node)
{
	bool is_new;
	struct map_slot *slot =
		map_at(&m->node_by, node->caller,
		       (uint64_t)node->image << 32 | node->name, &is_new);

	if (!slot)
		return DICT_NONE;
	if (is_new) {
		slot->value_plus_1 = (uint32_t)m->c->nodes.nr + 1;
		if (!vec_push(&m->c->nodes, *node))
			return DICT_NONE;
	}
	return slot->value_plus_1 - 1;
}

static int tree_join_run(struct tree_making *m, const struct compare_run *run,
			 uint32_t *node_of)
{
	for (size_t i = 0; i < run->nodes.nr; i++) {
		const struct run_node *from = &run->nodes.at[i];
		const struct run_item *item = &run->items.at[from->item];
		struct compare_node node = { .caller = DICT_NONE,
					     .image = DICT_NONE,
					     .row = DICT_NONE,
					     .self_row = DICT_NONE };

		if (from->caller != DICT_NONE) {
			node.caller = node_of[from->caller];
			node.image = run->images.at[item->image].same;
			node.name = item->name;
		}
		node_of[i] = tree_find_node(m, &node);
		if (node_of[i] == DICT_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int tree_join_runs(struct tree_making *m)
{
	const struct comparison *c = m->c;
	int r = 0;

	m->node_of = calloc(c->runs.nr + 1, sizeof(*m->node_of));
	if (!m->node_of)
		return -ENOMEM;
	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		const struct compare_run *run = &c->runs.at[i];

		m->node_of[i] = calloc(run->nodes.nr + 1, sizeof(*m->node_of[i]));
		r = m->node_of[i] ? tree_join_run(m, run, m->node_of[i]) : -ENOMEM;
	}
	return r;
}

static void tree_count(struct tree_making *m)
{
	struct compare_node *nodes = m->c->nodes.at;

	for (size_t i = 0; i < m->c->runs.nr; i++) {
		const struct compare_run *run = &m->c->runs.at[i];

		for (size_t j = 0; j < run->cells.nr; j++)
			nodes[m->node_of[i][run->cells.at[j].item]].count[run->side] +=
				run->cells.at[j].count;
	}
	for (size_t i = m->c->nodes.nr; i-- > 1;)
		for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
			nodes[nodes[i].caller].count[side] += nodes[i].count[side];
}

static bool tree_keeps(const struct comparison *c, const struct compare_node *node)
{
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++)
		if (node->count[side] > 0 &&
		    node->count[side] >= c->options.least_share * c->samples[side])
			return true;
	return node->caller == DICT_NONE;
}

/* Drops small nodes, and sets m->kept_of. A caller has at least the samples of its callees, so the
 * callers of kept nodes are kept. */
static int tree_fold(struct tree_making *m)
{
	struct comparison *c = m->c;
	uint32_t nr = 0;

	m->kept_of = calloc(c->nodes.nr + 1, sizeof(*m->kept_of));
	if (!m->kept_of)
		return -ENOMEM;
	for (size_t i = 0; i < c->nodes.nr; i++) {
		struct compare_node node = c->nodes.at[i];

		if (node.caller != DICT_NONE)
			node.caller = m->kept_of[node.caller];
		if (tree_keeps(c, &node)) {
			m->kept_of[i] = nr;
			c->nodes.at[nr++] = node;
		} else {
			m->kept_of[i] = node.caller;
		}
	}
	c->nodes.nr = nr;
	return 0;
}

/* ---- rows ---- */

static uint32_t tree_add_row(struct comparison *c, const struct compare_node *node)
{
	const struct compare_row row = { .image = node->image,
					 .name = node->name,
					 .move = DICT_NONE };

	return vec_push(&c->rows, row) ? (uint32_t)c->rows.nr - 1 : DICT_NONE;
}

/* Adds one row for each node with own samples: its samples without those of callees. */
static int tree_add_self_rows(struct tree_making *m)
{
	struct comparison *c = m->c;

	for (size_t i = 0; i < c->runs.nr; i++) {
		const struct compare_run *run = &c->runs.at[i];

		for (size_t j = 0; j < run->cells.nr; j++)
			m->has_self[m->kept_of[m->node_of[i][run->cells.at[j].item]]] =
				1;
	}
	for (size_t i = 0; i < c->nodes.nr; i++) {
		if (!m->has_self[i])
			continue;
		c->nodes.at[i].self_row = tree_add_row(c, &c->nodes.at[i]);
		if (c->nodes.at[i].self_row == DICT_NONE)
			return -ENOMEM;
	}
	c->nr_disjoint = c->rows.nr;
	return 0;
}

/* Sets `row` of node i, which includes the samples of callees. `only` is its callee if it has just
 * one. */
static int tree_set_row(struct tree_making *m, uint32_t i, uint32_t nr_callees,
			uint32_t only)
{
	struct compare_node *node = &m->c->nodes.at[i];

	if (!nr_callees) {
		node->row = node->self_row;
	} else if (nr_callees == 1 && !m->has_self[i]) {
		node->row = m->c->nodes.at[only].row;
	} else {
		node->row = m->sum_of[i] = tree_add_row(m->c, node);
		if (node->row == DICT_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int tree_add_sum_rows(struct tree_making *m)
{
	const size_t nr = m->c->nodes.nr;
	uint32_t *nr_callees = calloc(nr + 1, sizeof(*nr_callees));
	uint32_t *last = calloc(nr + 1, sizeof(*last)); /* callee */
	int r = nr_callees && last ? 0 : -ENOMEM;

	for (uint32_t i = (uint32_t)nr; !r && i-- > 1;) {
		const uint32_t caller = m->c->nodes.at[i].caller;

		nr_callees[caller]++;
		last[caller] = i;
		r = tree_set_row(m, i, nr_callees[i], last[i]);
	}
	free(nr_callees);
	free(last);
	return r;
}

static void tree_set_parents(struct comparison *c)
{
	for (uint32_t i = 0; i < c->nodes.nr; i++) {
		const struct compare_node *node = &c->nodes.at[i];

		if (i && node->row != c->nodes.at[node->caller].row) {
			c->rows.at[node->row].node = i;
			c->rows.at[node->row].parent = node->caller;
		}
		if (node->self_row != DICT_NONE && node->self_row != node->row) {
			c->rows.at[node->self_row].node = i;
			c->rows.at[node->self_row].parent = i;
		}
	}
}

/* ---- cells ---- */

/* Adds a cell to the node's own row, and its count to the sums of the node and its callers. Returns
 * false if memory runs out. */
static bool tree_add_cell(struct tree_making *m, struct compare_run *run, uint32_t node,
			  const struct run_cell *cell)
{
	const struct compare_node *nodes = m->c->nodes.at;
	const struct run_cell self = { nodes[node].self_row, cell->block, cell->count };

	for (uint32_t at = node; at != DICT_NONE; at = nodes[at].caller) {
		if (m->sum_of[at] == DICT_NONE)
			continue;
		if (m->sums[at] <= 0 && !vec_push(&m->touched, at))
			return false;
		m->sums[at] += cell->count;
	}
	return vec_push(&run->cells, self);
}

/* Makes cells of the sums of a block, and clears the sums. Returns false if memory runs out. */
static bool tree_end_block(struct tree_making *m, struct compare_run *run,
			   uint32_t block)
{
	bool added = true;

	for (size_t i = 0; i < m->touched.nr; i++) {
		const uint32_t node = m->touched.at[i];
		const struct run_cell cell = { m->sum_of[node], block, m->sums[node] };

		added &= vec_push(&run->cells, cell);
		m->sums[node] = 0;
	}
	m->touched.nr = 0;
	return added;
}

/* Fills the cells of a run from the former ones, in the order of `keys`: by block. Returns false if
 * memory runs out. */
static bool tree_fill_cells(struct tree_making *m, struct compare_run *run,
			    const uint32_t *node_of, const struct run_cell *from,
			    const struct sort_key *keys, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct run_cell *cell = &from[keys[i].index];

		if (!tree_add_cell(m, run, m->kept_of[node_of[cell->item]], cell))
			return false;
		if ((i + 1 == nr || keys[i + 1].at != keys[i].at) &&
		    !tree_end_block(m, run, cell->block))
			return false;
	}
	return true;
}

static int tree_make_cells(struct tree_making *m, struct compare_run *run,
			   const uint32_t *node_of)
{
	const size_t nr = run->cells.nr;
	struct run_cell *from = run->cells.at;
	struct sort_key *keys = calloc(nr + 1, sizeof(*keys));
	int r = keys ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++)
		keys[i] = (struct sort_key){ from[i].block, (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	if (!r) {
		run->cells.at = NULL;
		run->cells.nr = run->cells.cap = 0;
		if (!tree_fill_cells(m, run, node_of, from, keys, nr))
			r = -ENOMEM;
		free(from);
	}
	free(keys);
	return r;
}

static int tree_make_all_cells(struct tree_making *m, uint32_t **row_of)
{
	struct comparison *c = m->c;
	int r = 0;

	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		row_of[i] = calloc(c->rows.nr + 1, sizeof(*row_of[i]));
		if (!row_of[i])
			return -ENOMEM;
		for (uint32_t j = 0; j < c->rows.nr; j++)
			row_of[i][j] = j;
		r = tree_make_cells(m, &c->runs.at[i], m->node_of[i]);
	}
	return r;
}

static int tree_make_room(struct tree_making *m)
{
	const size_t nr = m->c->nodes.nr;

	m->has_self = calloc(nr + 1, sizeof(*m->has_self));
	m->sum_of = calloc(nr + 1, sizeof(*m->sum_of));
	m->sums = calloc(nr + 1, sizeof(*m->sums));
	for (size_t i = 0; m->sum_of && i < nr; i++)
		m->sum_of[i] = DICT_NONE;
	return m->has_self && m->sum_of && m->sums ? 0 : -ENOMEM;
}

int tree_make_rows(struct comparison *c, uint32_t **row_of)
{
	struct tree_making m = { .c = c };
	int r = tree_join_runs(&m);

	if (!r) {
		tree_count(&m);
		r = tree_fold(&m);
	}
	if (!r)
		r = tree_make_room(&m);
	if (!r)
		r = tree_add_self_rows(&m);
	if (!r)
		r = tree_add_sum_rows(&m);
	if (!r) {
		tree_set_parents(c);
		r = tree_make_all_cells(&m, row_of);
	}
	for (size_t i = 0; m.node_of && i < c->runs.nr; i++)
		free(m.node_of[i]);
	free(m.node_of);
	free(m.kept_of);
	free(m.has_self);
	free(m.sum_of);
	free(m.sums);
	vec_done(&m.touched);
	map_done(&m.node_by);
	return r;
}

int tree_renumber_rows(struct comparison *c)
{
	uint32_t *place_of = calloc(c->rows.nr + 1, sizeof(*place_of));

	if (!place_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->rows.nr; i++)
		place_of[c->rows.at[i].number] = i;
	for (size_t i = 0; i < c->nodes.nr; i++) {
		struct compare_node *node = &c->nodes.at[i];

		if (node->row != DICT_NONE)
			node->row = place_of[node->row];
		if (node->self_row != DICT_NONE)
			node->self_row = place_of[node->self_row];
	}
	free(place_of);
	return 0;
}
