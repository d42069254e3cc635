/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/map.h"
#include "base/containers/sort_keys.h"
#include "compare/comparison.h"
#include "compare/tree.h"

/* A row's count in a block of a run. */
struct row_cell {
	uint32_t row;
	uint32_t block;
	double count;
};

/* Finds or adds the row of each item.  Returns 0 or -ENOMEM. */
static int rows_find_in(struct comparison *c, struct map *row_by,
			const struct compare_run *run, uint32_t *row_of)
{
	for (size_t i = 0; i < run->items.nr; i++) {
		const struct run_item *item = &run->items.at[i];
		const uint32_t image = run->images.at[item->image].same;
		const uint32_t name = c->options.by_image ? 0 : item->name;
		const uint32_t line = c->options.by_image ? 0 : item->line;
		bool is_new;
		struct map_slot *slot =
			map_at(row_by, image, (uint64_t)line << 32 | name, &is_new);

		if (!slot)
			return -ENOMEM;
		if (is_new) {
			struct compare_row row = { .image = image,
						   .name = name,
						   .line = line,
						   .move = DICT_NONE,
						   .node = DICT_NONE,
						   .parent = DICT_NONE };

			slot->value_plus_1 = (uint32_t)c->rows.nr + 1;
			if (!vec_push(&c->rows, row))
				return -ENOMEM;
		}
		row_of[i] = slot->value_plus_1 - 1;
	}
	return 0;
}

static int rows_find_all(struct comparison *c, uint32_t **row_of)
{
	struct map row_by = { 0 };
	int r = 0;

	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		row_of[i] = calloc(c->runs.at[i].items.nr + 1, sizeof(*row_of[i]));
		r = row_of[i] ? rows_find_in(c, &row_by, &c->runs.at[i], row_of[i])
			      : -ENOMEM;
	}
	map_done(&row_by);
	c->nr_disjoint = c->rows.nr;
	return r;
}

/* Makes the cells of a run's rows, sorted by row and block, and adds up cells of the same row and
 * block. Returns 0 or -ENOMEM. */
static int make_cells(const struct compare_run *run, const uint32_t *row_of,
		      struct row_cell **ret_cells, size_t *ret_nr)
{
	struct row_cell *cells = calloc(run->cells.nr + 1, sizeof(*cells));
	struct sort_key *keys = calloc(run->cells.nr + 1, sizeof(*keys));
	size_t to = 0;
	int r = cells && keys ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < run->cells.nr; i++) {
		const struct run_cell *from = &run->cells.at[i];

		keys[i].at = (uint64_t)(row_of ? row_of[from->item] : from->item)
				     << 32 |
			     from->block;
		keys[i].index = (uint32_t)i;
	}
	if (!r)
		r = sort_keys(&keys, run->cells.nr);
	for (size_t i = 0; !r && i < run->cells.nr; i++) {
		const double count = run->cells.at[keys[i].index].count;

		if (i && keys[i].at == keys[i - 1].at)
			cells[to - 1].count += count;
		else
			cells[to++] = (struct row_cell){ (uint32_t)(keys[i].at >> 32),
							 (uint32_t)keys[i].at, count };
	}
	free(keys);
	if (r) {
		free(cells);
		return r;
	}
	*ret_cells = cells;
	*ret_nr = to;
	return 0;
}

static double block_at(const struct compare_run *run, size_t block)
{
	return block < run->blocks.nr ? run->blocks.at[block] : 0;
}

static void rows_add_cell(struct count_sums *sums, const struct compare_run *run,
			  const struct row_cell *cell, const struct row_cell *before)
{
	const double around = (cell->block ? block_at(run, cell->block - 1) : 0) +
			      block_at(run, cell->block + 1);

	sums->count += cell->count;
	sums->squares += cell->count * cell->count;
	sums->products += cell->count * block_at(run, cell->block);
	sums->crossed += cell->count * around;
	if (before && before->row == cell->row && before->block + 1 == cell->block)
		sums->neighbors += cell->count * before->count;
}

int rows_sum_cells(const struct compare_run *run, const uint32_t *row_of,
		   struct count_sums *sums, size_t stride)
{
	struct row_cell *cells;
	size_t nr;
	int r = make_cells(run, row_of, &cells, &nr);

	if (r)
		return r;
	for (size_t i = 0; i < nr; i++)
		rows_add_cell(&sums[cells[i].row * stride], run, &cells[i],
			      i ? &cells[i - 1] : NULL);
	free(cells);
	return 0;
}

/* Adds up all samples of a run, as if they were of a single row. */
static int sum_total(const struct comparison *c, const struct compare_run *run,
		     const uint32_t *row_of, struct count_sums *sum)
{
	struct row_cell *cells = calloc(run->blocks.nr + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (uint32_t i = 0; i < run->blocks.nr; i++)
		cells[i].block = i;
	for (size_t i = 0; i < run->cells.nr; i++) {
		const struct run_cell *cell = &run->cells.at[i];

		if (row_of[cell->item] < c->nr_disjoint)
			cells[cell->block].count += cell->count;
	}
	for (size_t i = 0; i < run->blocks.nr; i++)
		rows_add_cell(sum, run, &cells[i], i ? &cells[i - 1] : NULL);
	free(cells);
	return 0;
}

struct run_sums rows_sum_run(const struct compare_run *run)
{
	struct run_sums s = { .side = run->side };

	for (size_t i = 0; i < run->blocks.nr; i++) {
		const double n = run->blocks.at[i];

		s.total += n;
		s.squares += n * n;
		s.neighbors += n * block_at(run, i + 1);
		s.nr_blocks += n > 0;
	}
	return s;
}

static int sum_all(const struct comparison *c, struct row_sums *to)
{
	const size_t nr_runs = c->runs.nr;

	to->runs = calloc(nr_runs, sizeof(*to->runs));
	to->totals = calloc(nr_runs, sizeof(*to->totals));
	to->rows = calloc(c->rows.nr * nr_runs + 1, sizeof(*to->rows));
	if (!to->runs || !to->totals || !to->rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr_runs; i++) {
		const struct compare_run *run = &c->runs.at[i];
		int r;

		to->runs[i] = rows_sum_run(run);
		r = rows_sum_cells(run, to->row_of[i], &to->rows[i], nr_runs);
		if (!r)
			r = sum_total(c, run, to->row_of[i], &to->totals[i]);
		if (r)
			return r;
	}
	return 0;
}

int rows_make(struct comparison *c, struct row_sums *ret_sums)
{
	int r;

	*ret_sums = (struct row_sums){ .nr_runs = c->runs.nr };
	ret_sums->row_of = calloc(c->runs.nr + 1, sizeof(*ret_sums->row_of));
	if (!ret_sums->row_of)
		return -ENOMEM;
	r = c->options.is_tree ? tree_make_rows(c, ret_sums->row_of)
			       : rows_find_all(c, ret_sums->row_of);
	ret_sums->nr_rows = c->rows.nr;
	return r ? r : sum_all(c, ret_sums);
}

/* Returns for each row, or each item of a run, the number of its group; rows without a group get
 * the number after the last group. NULL: no memory. */
static uint32_t *groups_of(const struct comparison *c, const struct compare_run *run,
			   const uint32_t *row_of)
{
	const size_t nr = c->options.is_tree ? c->rows.nr : run->items.nr;
	uint32_t *groups = calloc(nr + 1, sizeof(*groups));

	for (size_t i = 0; groups && i < nr; i++) {
		const uint32_t move = c->rows.at[row_of[i]].move;

		groups[i] = move == DICT_NONE ? (uint32_t)c->moves.nr : move;
	}
	return groups;
}

int rows_sum_groups(const struct comparison *c, const struct row_sums *sums,
		    struct count_sums *to)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->runs.nr; i++) {
		const struct compare_run *run = &c->runs.at[i];
		uint32_t *groups = groups_of(c, run, sums->row_of[i]);

		r = groups ? rows_sum_cells(run, groups, to + i, c->runs.nr) : -ENOMEM;
		free(groups);
	}
	return r;
}

void row_sums_done(struct row_sums *s)
{
	for (size_t i = 0; s->row_of && i < s->nr_runs; i++)
		free(s->row_of[i]);
	free(s->row_of);
	free(s->runs);
	free(s->totals);
	free(s->rows);
	*s = (struct row_sums){ 0 };
}
