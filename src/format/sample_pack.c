#include "format/sample_block.h"

#include <errno.h>
#include <stdlib.h>

enum {
	STEP_SAMPLES = 65 /* of which the median of the distances is taken */
};

void sample_packer_done(struct sample_packer *p)
{
	vec_done(&p->values);
	vec_done(&p->rests);
	buf_done(&p->column);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The period if all samples have one and it is about the usual distance in time (a clock
 * event), else the usual distance; 0 if there is none. */
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

/* Nearest whole number of steps from the grid's place to `time_ns`, signed. */
static uint64_t whole_steps(const struct time_grid *g, uint64_t time_ns)
{
	int64_t distance = (int64_t)(time_ns - g->at_ns);
	int64_t step = (int64_t)g->step_ns;

	if (step <= 0)
		return 0;
	if (distance >= step / 2 && distance - step < step / 2)
		return 1; /* by far the most frequent; saves the division */
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
		       uint32_t *next_stack, struct column_encoder *e)
{
	uint32_t next = *next_stack;

	buf_put_varint(&p->column, next);
	for (size_t i = 0; i < nr; i++) {
		uint32_t stack = samples[i].stack;

		p->values.at[i] = (uint64_t)next - stack;
		if (stack >= next && stack != DICT_NONE)
			next = stack + 1;
	}
	*next_stack = next;
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
		else if (column == SAMPLE_EVENT)
			v[i] = samples[i].event;
		else
			v[i] = samples[i].thread;
	}
	return column_encode(e, v, nr, &p->column);
}

int sample_pack(struct sample_packer *p, const struct sample *samples, size_t nr,
		uint32_t *next_stack, struct column_encoder *e, struct buf *out)
{
	if (!vec_reserve(&p->values, nr))
		return -ENOMEM;
	buf_put_varint(out, nr);
	for (enum sample_column column = 0; column < SAMPLE_COLUMN_COUNT; column++) {
		int r;

		buf_clear(&p->column);
		if (column == SAMPLE_TIME)
			r = pack_times(p, samples, nr, e);
		else if (column == SAMPLE_STACK)
			r = pack_stacks(p, samples, nr, next_stack, e);
		else
			r = pack_plain(p, column, samples, nr, e);
		if (r || p->column.failed)
			return -ENOMEM;
		buf_put_u8(out, (uint8_t)column);
		buf_put_varint(out, p->column.len);
		buf_put(out, p->column.data, p->column.len);
	}
	return out->failed ? -ENOMEM : 0;
}
