/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/views/count.h"

#include <errno.h>
#include <string.h>

#include "aggregate/views/view.h"
#include "format/session/session.h"

enum {
	CHUNK = 1024, /* samples per call for the dense counts */
	FAR_SAMPLES = 16,
	NEAR_SAMPLES = 8,
	ROW_NONE = 0xffffffff /* a sample that is not selected */
};

/* Samples of a batch with their rows and positions in the dense counts. */
struct count_chunk {
	const struct sample_batch *batch;
	size_t from; /* index of its first sample in the batch */
	size_t nr;
	uint32_t highest; /* position */
	uint32_t rows[CHUNK];
	uint32_t positions[CHUNK];
};

/* Finds the bucket of a time, and stores where it begins and ends: consecutive samples are mostly
 * in the same bucket, so that no further division is needed.  Returns 0 or -ERANGE. */
static int find_bucket(struct view *v, uint64_t time_ns)
{
	uint64_t start = v->source.start_ns, width = v->time_width_ns;
	uint64_t number = time_ns > start ? (time_ns - start) / width : 0;

	if (number > UINT32_MAX)
		return -ERANGE;
	v->bucket.number = (uint32_t)number;
	if (__builtin_add_overflow(start + number * width, width, &v->bucket.to))
		v->bucket.to = UINT64_MAX;
	v->bucket.from = number ? start + number * width : 0;
	return 0;
}

/* Packs (event, cpu, bucket) of sample i into a number.  Returns 1 if the event is not selected. */
static inline int pack_rest(const struct profile *p, struct view *v,
			    const struct sample_batch *b, size_t i, uint64_t *ret_rest)
{
	uint32_t event = b->event[i];
	uint64_t rest = event;

	if (event >= v->nr_events || v->event_of[event] == VIEW_SKIP)
		return 1;
	if (v->by_cpu && b->cpu) {
		uint32_t cpu = b->cpu[i] < VIEW_CPU_NONE ? b->cpu[i] : VIEW_CPU_NONE;

		if (p->given_up & NEED_CPU)
			cpu = VIEW_CPU_NONE;
		rest |= (uint64_t)cpu << VIEW_EVENT_BITS;
	}
	if (b->time_ns) {
		uint64_t time_ns = b->time_ns[i];

		if ((time_ns < v->bucket.from || time_ns >= v->bucket.to) &&
		    find_bucket(v, time_ns))
			return -ERANGE;
		rest |= (uint64_t)v->bucket.number << (VIEW_EVENT_BITS + VIEW_CPU_BITS);
	}
	*ret_rest = rest;
	return 0;
}

/* Returns the position of a stack, which is computed at its first sample. */
static inline uint32_t sample_position(struct profile *p, struct view *v,
				       uint32_t stack)
{
	uint32_t position = v->position_of[stack < v->nr_stacks ? stack : v->nr_stacks];

	return __builtin_expect(position == VIEW_UNSET, 0) ? view_position(p, v, stack)
							   : position;
}

/* Finds the cell of sample i.  Returns 1 if the sample is not selected. */
static inline int find_cell(struct profile *p, struct view *v,
			    const struct sample_batch *b, size_t i, uint64_t *ret_a,
			    uint64_t *ret_b)
{
	uint32_t actor = 0;
	uint32_t position = 0;
	int r;

	if (b->cpu && !selection_wants_cpu(&v->selection, b->cpu[i]))
		return 1;
	if (b->thread) {
		uint32_t t = b->thread[i];

		actor = v->actor_of[t < v->nr_threads ? t : v->nr_threads];
		if (actor == VIEW_SKIP)
			return 1;
	}
	r = pack_rest(p, v, b, i, ret_b);
	if (r)
		return r;
	if (b->stack) {
		position = sample_position(p, v, b->stack[i]);
		if (position == VIEW_UNSET)
			return -ENOMEM;
	}
	*ret_a = (uint64_t)actor << 32 | position;
	return 0;
}

/* Prefetches position_of[], which exceeds CPU caches. */
static inline void ask_for_position(const struct view *v, const struct sample_batch *b,
				    size_t i, size_t end)
{
	if (b->stack && i < end && b->stack[i] < v->nr_stacks)
		__builtin_prefetch(&v->position_of[b->stack[i]]);
}

/* Counts a sample of a cell.  Returns 0 or -ENOMEM. */
typedef int (*count_fn)(struct profile *p, struct view *v, uint64_t a, uint64_t b,
			uint64_t period);

static inline int add_to_tally(struct profile *p, struct view *v, uint64_t a,
			       uint64_t b, uint64_t period)
{
	(void)p;
	return tally_add(&v->tally, a, b, period);
}

static inline int add_to_timeline(struct profile *p, struct view *v, uint64_t a,
				  uint64_t b, uint64_t period)
{
	(void)v;
	(void)period;
	return timeline_add(&p->timeline, a, b);
}

/* Adds a sample that represents several, or whose period is counted. */
static int add_weighted(struct profile *p, struct view *v, uint64_t a, uint64_t b,
			uint64_t period)
{
	const struct event_desc *event =
		&v->source.dict->events.at[b & VIEW_EVENT_NONE];
	uint64_t nr = session_sample_weight(v->source.info, event, period);

	if (v->has_values && event->flags & EVENT_VALUES)
		return tally_add_many(&v->tally, a, b, period, nr);
	return p->options.timeline ? timeline_add_many(&p->timeline, a, b, nr)
				   : tally_add_many(&v->tally, a, b, nr,
						    p->options.periods ? period : 0);
}

/* Counts the samples first..end one by one with `add`. Inlined for each `add`, because this loop
 * handles every sample. */
__attribute__((always_inline)) static inline int
count_one_by_one(struct profile *p, struct view *v, const struct sample_batch *b,
		 size_t first, size_t end, count_fn add)
{
	for (size_t i = first; i < end; i++) {
		uint64_t cell_a;
		uint64_t cell_b;
		int r;

		ask_for_position(v, b, i + FAR_SAMPLES, end);
		r = find_cell(p, v, b, i, &cell_a, &cell_b);
		if (!r)
			r = add(p, v, cell_a, cell_b, b->period ? b->period[i] : 0);
		if (r < 0)
			return r;
	}
	return 0;
}

static int count_in_tally(struct profile *p, struct view *v,
			  const struct sample_batch *b, size_t first, size_t end)
{
	return count_one_by_one(p, v, b, first, end, add_to_tally);
}

static int count_in_timeline(struct profile *p, struct view *v,
			     const struct sample_batch *b, size_t first, size_t end)
{
	return count_one_by_one(p, v, b, first, end, add_to_timeline);
}

/* Prefetches the data for the look-up of samples that follow some samples later, because symbol
 * tables exceed CPU caches. */
static inline void count_look_ahead(const struct view *v, const uint32_t *stacks,
				    const uint32_t *positions, size_t i, size_t nr)
{
	if (i + FAR_SAMPLES < nr && positions[i + FAR_SAMPLES] == VIEW_UNSET)
		view_position_ahead(v, stacks[i + FAR_SAMPLES], AHEAD_FAR);
	if (i + NEAR_SAMPLES < nr && positions[i + NEAR_SAMPLES] == VIEW_UNSET)
		view_position_ahead(v, stacks[i + NEAR_SAMPLES], AHEAD_NEAR);
}

/* Finds the positions of `nr` stacks, and the highest of them.  The loop has no branches, so that
 * memory accesses overlap; unknown positions are computed afterwards. */
static int count_find_positions(struct profile *p, struct view *v,
				const uint32_t *stacks, size_t nr, uint32_t *positions,
				uint32_t *ret_highest)
{
	const uint32_t *position_of = v->position_of;
	uint32_t unknown = (uint32_t)v->nr_stacks;
	uint32_t highest = 0;

	for (size_t i = 0; i < nr; i++) {
		uint32_t stack = stacks[i] < unknown ? stacks[i] : unknown;
		uint32_t position = position_of[stack];

		positions[i] = position;
		highest = position > highest ? position : highest;
	}
	if (highest != VIEW_UNSET) {
		*ret_highest = highest;
		return 0;
	}
	highest = 0;
	for (size_t i = 0; i < nr; i++) {
		count_look_ahead(v, stacks, positions, i, nr);
		if (positions[i] == VIEW_UNSET)
			positions[i] = sample_position(p, v, stacks[i]);
		if (positions[i] == VIEW_UNSET)
			return -ENOMEM;
		highest = positions[i] > highest ? positions[i] : highest;
	}
	*ret_highest = highest;
	return 0;
}

/* Finds the rows of samples from..from + nr.  Returns false if some have events without a row. */
static bool find_rows(const struct view *v, const struct sample_batch *b, size_t from,
		      size_t nr, uint32_t *rows)
{
	const uint32_t *events = b->event + from;
	const uint32_t *threads = b->thread ? b->thread + from : NULL;
	uint32_t nr_threads = (uint32_t)v->nr_threads;
	uint32_t highest = 0;

	for (size_t i = 0; i < nr; i++)
		highest = events[i] > highest ? events[i] : highest;
	if (highest >> DENSE_EVENT_BITS || highest >= v->nr_events)
		return false;
	for (size_t i = 0; i < nr; i++) {
		uint32_t actor = 0;

		if (threads)
			actor = v->actor_of[threads[i] < nr_threads ? threads[i]
								    : nr_threads];
		rows[i] = actor == VIEW_SKIP || v->event_of[events[i]] == VIEW_SKIP
				  ? ROW_NONE
				  : actor << DENSE_EVENT_BITS | events[i];
	}
	return true;
}

static void drop_cpus(const struct view *v, const uint32_t *cpus, size_t nr,
		      uint32_t *rows)
{
	for (size_t i = 0; i < nr; i++) {
		if (!selection_wants_cpu(&v->selection, cpus[i]))
			rows[i] = ROW_NONE;
	}
}

/* Counts samples by row and position.  *ret_nr is the number counted: all, unless the dense counts
 * got too large; then the counts are in the tally.  Returns 0 or -ENOMEM. */
static int count_rows(struct view *v, const uint32_t *rows, const uint32_t *positions,
		      uint32_t highest, size_t *ret_nr)
{
	struct dense *d = &v->dense;
	size_t nr = *ret_nr;
	/* Counts are bytes, which can alias anything: keep values in local variables so that
	 * they are not reloaded after each store. */
	dense_count **counts = d->rows;
	size_t nr_rows = highest < d->nr_positions ? d->nr_rows : 0;
	size_t nr_new = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < nr && r >= 0; i++) {
		uint32_t row = rows[i];
		dense_count *count;

		/* This also skips samples with ROW_NONE, which is higher than any row. */
		if (__builtin_expect(row >= nr_rows || !counts[row], 0)) {
			if (row == ROW_NONE)
				continue;
			d->nr_cells += nr_new;
			nr_new = 0;
			r = dense_extend(d, &v->tally, row, highest);
			if (r)
				break;
			counts = d->rows;
			nr_rows = d->nr_rows;
		}
		count = &counts[row][positions[i]];
		++*count;
		nr_new += *count == 1;
		if (__builtin_expect(*count == 0, 0))
			r = dense_carry(d, &v->tally, row, positions[i]);
	}
	if (d->on)
		d->nr_cells += nr_new;
	*ret_nr = i;
	return r < 0 ? r : 0;
}

/* Finds the bucket of a chunk's sample `first`; *ret_end is the next sample that is in another
 * one.  Returns 0 or -ERANGE. */
static int find_stretch(struct view *v, const struct count_chunk *chunk, size_t first,
			size_t *ret_end)
{
	const uint64_t *times = chunk->batch->time_ns;
	size_t i = first;

	if (!times) {
		*ret_end = chunk->nr;
		return 0;
	}
	times += chunk->from;
	if ((times[i] < v->bucket.from || times[i] >= v->bucket.to) &&
	    find_bucket(v, times[i]))
		return -ERANGE;
	while (i < chunk->nr && times[i] >= v->bucket.from && times[i] < v->bucket.to)
		i++;
	*ret_end = i;
	return 0;
}

/* Prepares the dense counts for the current bucket.  Returns 0, -ENOMEM, or 1 if they remain those
 * of another bucket: the samples of different CPUs alternate around the end of a bucket. */
static int use_bucket(struct view *v, size_t nr)
{
	struct dense *d = &v->dense;
	int r = 0;

	if (d->bucket != v->bucket.number)
		r = dense_can_change(d) ? dense_change(d, &v->tally, v->bucket.number)
					: 1;
	d->nr_seen += nr;
	return r;
}

/* Counts the samples first..end of a chunk, which are in the current bucket. */
static int count_stretch(struct profile *p, struct view *v,
			 const struct count_chunk *chunk, size_t first, size_t end)
{
	size_t counted = end - first;
	int r = v->dense.on ? use_bucket(v, counted) : 1;

	if (r < 0)
		return r;
	if (r)
		counted = 0;
	else if (count_rows(v, chunk->rows + first, chunk->positions + first,
			    chunk->highest, &counted))
		return -ENOMEM;
	first += counted;
	return first < end ? count_in_tally(p, v, chunk->batch, chunk->from + first,
					    chunk->from + end)
			   : 0;
}

static int count_by_bucket(struct profile *p, struct view *v,
			   const struct count_chunk *chunk)
{
	int r = 0;

	for (size_t first = 0, end = 0; !r && first < chunk->nr; first = end) {
		r = find_stretch(v, chunk, first, &end);
		if (!r)
			r = count_stretch(p, v, chunk, first, end);
	}
	return r;
}

static int count_fill_chunk(struct profile *p, struct view *v,
			    const struct sample_batch *b, size_t from, size_t nr)
{
	struct count_chunk chunk;
	int r = 0;

	if (v->weighted || v->has_values)
		return count_one_by_one(p, v, b, from, from + nr, add_weighted);
	if (p->options.timeline)
		return count_in_timeline(p, v, b, from, from + nr);
	if (!v->dense.on || !find_rows(v, b, from, nr, chunk.rows))
		return count_in_tally(p, v, b, from, from + nr);
	chunk.batch = b;
	chunk.from = from;
	chunk.nr = nr;
	chunk.highest = 0;
	if (b->cpu)
		drop_cpus(v, b->cpu + from, nr, chunk.rows);
	if (b->stack)
		r = count_find_positions(p, v, b->stack + from, nr, chunk.positions,
					 &chunk.highest);
	else
		memset(chunk.positions, 0, nr * sizeof(*chunk.positions));
	return r ? r : count_by_bucket(p, v, &chunk);
}

/* Returns the number of cells, without pending notes. */
static size_t nr_cells(const struct view *v)
{
	return v->tally.nr_summed + v->dense.nr_cells;
}

/* Drops keys (options.give_up) once there are too many cells. */
static int limit_cells(struct profile *p, struct view *v)
{
	const unsigned int *need = p->options.give_up;
	size_t most = p->options.most_cells;

	if (!most || !need)
		return 0;
	for (; *need && nr_cells(v) > most; need++) {
		if (p->given_up & *need)
			continue;
		/* Several runs of the tally can contain the same cell, so the count was too
		 * high. */
		if (tally_settle(&v->tally))
			return -ENOMEM;
		if (nr_cells(v) > most && view_give_up(p, v, *need))
			return -ENOMEM;
	}
	return 0;
}

int count_batch(struct profile *p, struct view *v, const struct sample_batch *b)
{
	for (size_t from = 0; from < b->nr; from += CHUNK) {
		size_t nr = b->nr - from < CHUNK ? b->nr - from : CHUNK;
		int r = count_fill_chunk(p, v, b, from, nr);

		if (r)
			return r;
	}
	return limit_cells(p, v);
}

int count_end(struct view *v)
{
	return dense_flush(&v->dense, &v->tally) || tally_finish(&v->tally) ? -ENOMEM
									    : 0;
}
