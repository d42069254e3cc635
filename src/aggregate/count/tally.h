/* tally.h - the innermost table: counts by a pair of numbers.
 * Layer: aggregate.  Nothing is looked up for a sample: it is noted, and notes are sorted
 * and summed up once there are many.  So the memory is walked in order, whatever the order
 * of the samples, and grows with the number of distinct pairs only. */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Low bits of `b` that order cells last; the others order them first, then `a`. */
	TALLY_EVENT_BITS = 12,
	TALLY_CPU_BITS = 20, /* next to them */
	TALLY_RUNS = 48      /* each at least twice as long as the next */
};

struct tally_cell {
	uint64_t a;
	uint64_t b;
	uint64_t samples;
	uint64_t period;
};

struct tally {
	struct tally_cell
		*cells;  /* run behind run; after tally_finish(): one run of all */
	size_t nr_cells; /* after tally_finish() */
	size_t cells_room;
	size_t run_nr[TALLY_RUNS]; /* cells in order, each pair once */
	size_t nr_runs;
	size_t nr_summed;         /* cells of the runs together */
	struct tally_cell *notes; /* as they came */
	size_t nr_notes;
	size_t room;
	uint64_t some_a, some_b; /* bits that are set in any of them */
	uint64_t *keys;          /* two for each note there is room for */
};

/* All zeros is an empty tally. */
void tally_done(struct tally *t);
/* Makes room for a note: sums up those there are.  0 or -ENOMEM. */
int tally_make_room(struct tally *t);
/* Sums up what was summed up in parts: nr_summed is the number of cells then, without the notes.
 * 0 or -ENOMEM. */
int tally_settle(struct tally *t);
/* Sums up all that was added.  Nothing is added behind it.  0 or -ENOMEM. */
int tally_finish(struct tally *t);
/* After tally_finish(): the first `nr` cells are not read any more. */
void tally_forget(struct tally *t, size_t nr);

/* Counts that many samples at once.  0 or -ENOMEM. */
static inline int tally_add_many(struct tally *t, uint64_t a, uint64_t b,
				 uint64_t samples, uint64_t period)
{
	if (t->nr_notes == t->room && tally_make_room(t))
		return -ENOMEM;
	t->some_a |= a;
	t->some_b |= b;
	t->notes[t->nr_notes++] = (struct tally_cell){ a, b, samples, period };
	return 0;
}

/* Counts one sample.  0 or -ENOMEM. */
static inline int tally_add(struct tally *t, uint64_t a, uint64_t b, uint64_t period)
{
	return tally_add_many(t, a, b, 1, period);
}
