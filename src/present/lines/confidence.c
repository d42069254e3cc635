/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/confidence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "compare/comparison.h"
#include "compare/shares.h"

static void confidence_free_runs(struct compare_run *runs, size_t nr)
{
	for (size_t i = 0; runs && i < nr; i++) {
		vec_done(&runs[i].blocks);
		vec_done(&runs[i].cells);
	}
	free(runs);
}

/* Returns the number of samples of a cell. If its count is a sum of values, such as bytes,
 * estimates the number from the mean value of the event. */
static double samples_of(const struct profile *p, const struct block_cell *cell)
{
	const uint32_t event = p->rows.at[cell->row].event;
	const struct profile_event *e = &p->events.at[event];

	if (!profile_event_has_values(p, event) || !e->samples || !e->period)
		return (double)cell->samples;
	return (double)cell->samples * (double)e->period / (double)e->samples;
}

static int add_block_cell(struct compare_run *run, const struct profile *p,
			  const struct block_cell *from, uint32_t item)
{
	const struct run_cell cell = { item, from->block, samples_of(p, from) };

	while (run->blocks.nr < p->nr_blocks || run->blocks.nr <= from->block)
		if (!vec_push(&run->blocks, 0.0))
			return -ENOMEM;
	run->blocks.at[from->block] += cell.count;
	return vec_push(&run->cells, cell) ? 0 : -ENOMEM;
}

static int fill_runs(const struct profile *p, const struct share_sets *sets,
		     struct compare_run *runs)
{
	for (size_t i = 0; i < p->block_cells.nr; i++) {
		const struct block_cell *cell = &p->block_cells.at[i];
		const uint32_t set = sets->set_of[cell->row];
		int r = set == DICT_NONE ? 0
					 : add_block_cell(&runs[set], p, cell,
							  sets->item_of[cell->row]);

		if (r)
			return r;
	}
	return 0;
}

int confidence_limits(const struct profile *p, const struct share_sets *sets,
		      double percent, struct limits *ret_limits)
{
	struct compare_run *runs = calloc(sets->nr_sets + 1, sizeof(*runs));
	struct limits *of_set = calloc(sets->nr_items + 1, sizeof(*of_set));
	int r = runs && of_set ? fill_runs(p, sets, runs) : -ENOMEM;

	for (size_t s = 0; !r && s < sets->nr_sets; s++) {
		r = shares_limits(&runs[s], sets->nr_items, percent / 100, of_set);
		for (size_t i = 0; !r && i < sets->nr_items; i++)
			ret_limits[i * sets->nr_sets + s] = of_set[i];
	}
	confidence_free_runs(runs, sets->nr_sets);
	free(of_set);
	return r;
}

void confidence_put(struct buf *out, const struct limits *l)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%7.4f .. %7.4f", 100 * l->low,
			   100 * l->high);

	buf_put(out, text, (size_t)len);
}

void confidence_write_note(FILE *out, const struct profile *p, double percent)
{
	const char *covered =
		p->nr_blocks > 1
			? "they cover the sampling noise of this recording, not differences from other runs"
			: "the samples have no times and count as independent, so intervals are too narrow if samples come in bursts";

	fprintf(out, "Intervals of %% contain the share in %g %% of all cases: %s\n",
		percent, covered);
}
