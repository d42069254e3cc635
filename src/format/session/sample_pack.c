/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_pack.c - encodes a batch of samples as a block. */
#include "format/session/sample_block.h"

#include <errno.h>
#include <stdlib.h>

#include "base/containers/hash.h"
#include "format/session/recent.h"

enum {
	/* Number of samples whose distances in time are used for a median. */
	STEP_SAMPLES = 65
};

void sample_packer_done(struct sample_packer *p)
{
	vec_done(&p->values);
	vec_done(&p->rests);
	vec_done(&p->again);
	buf_done(&p->column);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the step of the time grid: the period if it is the same for all samples and close to the
 * usual time between samples, as for clock events; otherwise the usual time between samples, or 0
 * if that is unknown. */
static uint64_t grid_step(const struct sample *samples, size_t nr)
{
	uint64_t distances[STEP_SAMPLES];
	size_t nr_distances = 0;
	size_t stride = nr / STEP_SAMPLES + 1;
	uint64_t period = samples[0].period;
	uint64_t median;

	for (size_t i = 1; i < nr && nr_distances < STEP_SAMPLES; i += stride)
		if (samples[i].time_ns > samples[i - 1].time_ns)
			distances[nr_distances++] =
				samples[i].time_ns - samples[i - 1].time_ns;
	if (!nr_distances)
		return 0;
	qsort(distances, nr_distances, sizeof(distances[0]), compare_u64);
	median = distances[nr_distances / 2];
	for (size_t i = 1; i < nr; i++)
		if (samples[i].period != period)
			return median;
	return period && period / 2 <= median && median / 2 <= period ? period : median;
}

/* Returns the number of grid steps from the grid's position to `time_ns`, rounded; it can be
 * negative. */
static uint64_t whole_steps(const struct time_grid *g, uint64_t time_ns)
{
	int64_t distance = (int64_t)(time_ns - g->at_ns);
	int64_t step = (int64_t)g->step_ns;

	if (step <= 0)
		return 0;
	if (distance >= step / 2 && distance - step < step / 2)
		return 1; /* by far the most frequent case; avoids the division */
	return (uint64_t)(distance / step + (distance % step > step / 2) -
			  (distance % step < -step / 2));
}

static int pack_times(struct sample_packer *p, const struct sample *samples, size_t nr,
		      struct column_encoder *e)
{
	uint32_t units = p->time_units ? p->time_units : 1;
	struct time_grid grid = { .step_ns = grid_step(samples, nr),
				  .unit_ns = (uint64_t)units * SAMPLE_TIME_UNIT_NS };
	int r;

	if (!vec_reserve(&p->rests, nr))
		return -ENOMEM;
	grid.at_ns = samples[0].time_ns;
	buf_put_varint(&p->column, grid.step_ns);
	buf_put_varint(&p->column, grid.at_ns);
	for (size_t i = 0; i < nr; i++) {
		uint64_t time_ns = samples[i].time_ns;
		uint64_t steps = whole_steps(&grid, time_ns);
		uint64_t expected = time_grid_expect(&grid, steps);
		uint64_t rest = time_ns / grid.unit_ns - expected / grid.unit_ns;

		time_grid_follow(&grid, expected, rest);
		p->values.at[i] = steps;
		p->rests.at[i] = zigzag(rest);
	}
	r = column_encode(e, p->values.at, nr, &p->column);
	if (!r)
		r = column_encode(e, p->rests.at, nr, &p->column);
	if (units > 1)
		buf_put_varint(&p->column, units);
	return r;
}

static int pack_stacks(struct sample_packer *p, const struct sample *samples, size_t nr,
		       struct sample_next *next, struct column_encoder *e)
{
	buf_put_varint(&p->column, next->stack);
	for (size_t i = 0; i < nr; i++) {
		uint32_t stack = samples[i].stack;

		p->values.at[i] = (uint64_t)next->stack - stack;
		if (stack >= next->stack && stack != DICT_NONE)
			next->stack = stack + 1;
	}
	return column_encode(e, p->values.at, nr, &p->column);
}

/* Returns the first of `nr` chains, which are sorted, whose end is not before `stack`. */
static uint32_t chain_at(const struct chain_ends *ends, uint32_t nr, uint32_t stack)
{
	uint32_t low = 0;

	while (low < nr) {
		uint32_t middle = low + (nr - low) / 2;

		if (ends->stacks.at[middle] < stack)
			low = middle + 1;
		else
			nr = middle;
	}
	return low;
}

/* Returns the number of the chain that this block is expected to begin with: `next`, unless
 * earlier blocks used no chains. */
static uint32_t sample_pack_begin_chains(const struct chain_ends *ends,
					 const struct sample *samples, size_t nr,
					 uint32_t next)
{
	uint32_t nr_chains = (uint32_t)ends->stacks.nr;

	for (size_t i = 0; i < nr && next < nr_chains; i++)
		if (samples[i].stack >= ends->stacks.at[next])
			return chain_at(ends, nr_chains, samples[i].stack);
	return next;
}

static bool forget_stacks(struct sample_packer *p)
{
	if (!vec_reserve(&p->again, STACKS_AGAIN))
		return false;
	memset(p->again.at, 0, STACKS_AGAIN * sizeof(*p->again.at));
	return true;
}

/* For a stack that is not the next chain: returns how many such stacks ago it last occurred (1:
 * the previous one), or 0 if it is not found. Stores it under the number `position`. */
static uint32_t reported_ago(struct sample_packer *p, uint32_t stack, uint32_t position)
{
	struct stack_again *slot = &p->again.at[hash_u64(stack) & (STACKS_AGAIN - 1)];
	uint32_t ago =
		slot->position && slot->stack == stack ? position - slot->position : 0;

	*slot = (struct stack_again){ .stack = stack, .position = position };
	return ago;
}

/* Encodes the stacks as chains. Returns whether this saves space, that is, if at most one in
 * eight stacks is neither the end of the next chain nor a repetition. */
static bool chain_values(struct sample_packer *p, const struct sample *samples,
			 size_t nr, uint32_t *next)
{
	const struct chain_ends *ends = p->ends;
	size_t nr_others = 0;
	uint32_t position = 0;

	for (size_t i = 0; i < nr && nr_others <= nr / 8; i++) {
		uint32_t stack = samples[i].stack;
		uint32_t ago, chain;

		if (*next < ends->stacks.nr && ends->stacks.at[*next] == stack) {
			p->values.at[i] = 0;
			++*next;
			continue;
		}
		ago = reported_ago(p, stack, ++position);
		if (ago) {
			p->values.at[i] = 2 * (uint64_t)ago - 1;
			continue;
		}
		chain = chain_at(ends, *next, stack);
		if (chain < *next && ends->stacks.at[chain] == stack) {
			p->values.at[i] = 2 * (uint64_t)(*next - chain);
			continue;
		}
		p->values.at[i] = 2 * ((uint64_t)*next + 1 + stack);
		nr_others++;
	}
	return nr_others <= nr / 8;
}

/* Encodes the stacks as chains if that is worthwhile. Returns 1 if it did, 0 if not, or
 * -ENOMEM. */
static int try_chains(struct sample_packer *p, const struct sample *samples, size_t nr,
		      struct sample_next *next, struct column_encoder *e)
{
	uint32_t first, chain;

	if (!p->ends->stacks.nr)
		return 0;
	if (!forget_stacks(p))
		return -ENOMEM;
	first = chain = sample_pack_begin_chains(p->ends, samples, nr, next->chain);
	if (!chain_values(p, samples, nr, &chain))
		return 0;
	buf_put_varint(&p->column, first);
	next->chain = chain;
	for (size_t i = 0; i < nr; i++)
		if (samples[i].stack >= next->stack && samples[i].stack != DICT_NONE)
			next->stack = samples[i].stack + 1;
	return column_encode(e, p->values.at, nr, &p->column) ? -ENOMEM : 1;
}

static int pack_threads(struct sample_packer *p, const struct sample *samples,
			size_t nr, struct sample_next *next, struct column_encoder *e)
{
	uint32_t recent[RECENT_THREADS];
	uint32_t nr_recent = 0;

	buf_put_varint(&p->column, next->thread);
	for (size_t i = 0; i < nr; i++) {
		uint32_t thread = samples[i].thread;
		uint32_t position = recent_position(recent, nr_recent, thread);
		uint64_t value = position + 1;

		if (position == nr_recent)
			value = thread == next->thread
					? 0
					: RECENT_THREADS +
						  (uint64_t)(next->thread - thread);
		p->values.at[i] = value;
		if (thread >= next->thread && thread != DICT_NONE)
			next->thread = thread + 1;
		recent_use(recent, &nr_recent, RECENT_THREADS, position, thread);
	}
	return column_encode(e, p->values.at, nr, &p->column);
}

static int pack_plain(struct sample_packer *p, enum sample_column column,
		      const struct sample *samples, size_t nr, struct column_encoder *e)
{
	uint64_t *v = p->values.at;

	for (size_t i = 0; i < nr; i++) {
		if (column == SAMPLE_PERIOD)
			v[i] = samples[i].period;
		else if (column == SAMPLE_CPU)
			v[i] = samples[i].cpu;
		else
			v[i] = samples[i].event;
	}
	return column_encode(e, v, nr, &p->column);
}

/* Encodes a column into p->column. *form is the plain encoding on entry, and the chosen one on
 * return. */
static int pack_column(struct sample_packer *p, enum sample_column *form,
		       const struct sample *samples, size_t nr,
		       struct sample_next *next, struct column_encoder *e)
{
	int r;

	if (*form == SAMPLE_TIME)
		return pack_times(p, samples, nr, e);
	if (*form == SAMPLE_THREAD) {
		*form = SAMPLE_RECENT_THREADS;
		return pack_threads(p, samples, nr, next, e);
	}
	if (*form != SAMPLE_STACK)
		return pack_plain(p, *form, samples, nr, e);
	r = try_chains(p, samples, nr, next, e);
	if (!r)
		return pack_stacks(p, samples, nr, next, e);
	*form = SAMPLE_CHAINS;
	return r < 0 ? r : 0;
}

int sample_pack(struct sample_packer *p, const struct sample *samples, size_t nr,
		struct sample_next *next, struct column_encoder *e, struct buf *out)
{
	if (!vec_reserve(&p->values, nr))
		return -ENOMEM;
	buf_put_varint(out, nr);
	for (enum sample_column column = 0; column < SAMPLE_COLUMN_COUNT; column++) {
		enum sample_column form = column;
		int r;

		buf_clear(&p->column);
		r = pack_column(p, &form, samples, nr, next, e);
		if (r || p->column.failed)
			return -ENOMEM;
		buf_put_u8(out, (uint8_t)form);
		buf_put_varint(out, p->column.len);
		buf_put(out, p->column.data, p->column.len);
	}
	return out->failed ? -ENOMEM : 0;
}
