/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.h - counts samples by pairs of numbers.
 * Layer: aggregate. A sample causes no look-up: it is appended as a note, and the notes are
 * sorted and summed once there are many. So memory is accessed sequentially, whatever the order
 * of the samples, and grows only with the number of distinct pairs. */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* Cells are sorted by the high bits of `b`, then by `a`, then by this number of low bits
	 * of `b`. */
	TALLY_EVENT_BITS = 12,
	TALLY_CPU_BITS = 20, /* the bits above TALLY_EVENT_BITS */
	/* maximum number of runs; each is at least twice as long as the next */
	TALLY_RUNS = 48
};

struct tally_cell {
	uint64_t a;
	uint64_t b;
	uint64_t samples;
	uint64_t period;
};

struct tally {
	struct tally_cell
		*cells;  /* consecutive runs; after tally_finish() a single run */
	size_t nr_cells; /* valid after tally_finish() */
	size_t cells_room;
	/* Number of cells in each run. A run is sorted and contains each pair only once. */
	size_t run_nr[TALLY_RUNS];
	size_t nr_runs;
	size_t nr_summed;         /* number of cells in all runs */
	struct tally_cell *notes; /* unsorted */
	size_t nr_notes;
	size_t room;
	uint64_t some_a, some_b; /* the OR of all values */
	uint64_t *keys;          /* two words for each note */
};

/* Frees a tally. An all-zero structure is an empty tally. */
void tally_done(struct tally *t);
/* Makes room for a note by summing up the existing ones.  Returns 0 or -ENOMEM. */
int tally_make_room(struct tally *t);
/* Merges all runs. Afterwards, nr_summed is the number of distinct pairs, except those that occur
 * only in notes. Returns 0 or -ENOMEM. */
int tally_settle(struct tally *t);
/* Sums up everything that was added; do not add afterwards.  Returns 0 or -ENOMEM. */
int tally_finish(struct tally *t);
/* Releases the memory of the first `nr` cells, which are not read again.  Call it after
 * tally_finish(). */
void tally_forget(struct tally *t, size_t nr);

/* Counts several samples.  Returns 0 or -ENOMEM. */
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

/* Counts a sample.  Returns 0 or -ENOMEM. */
static inline int tally_add(struct tally *t, uint64_t a, uint64_t b, uint64_t period)
{
	return tally_add_many(t, a, b, 1, period);
}
