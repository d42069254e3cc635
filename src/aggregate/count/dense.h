/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dense.h - counts of (actor, event) rows by position, as plain arrays. Most reports need only
 * these, and they use an eighth of the memory of a tally.
 * Layer: aggregate. If the rows get too large together, counting continues in a tally. All
 * counts belong to one time bucket; before samples of another bucket are counted, they move to
 * the tally. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally;

enum {
	DENSE_EVENT_BITS = 3 /* further events are counted in the tally */
};

/* Small, so that more of them fit into CPU caches; overflow is carried to the tally. */
typedef uint8_t dense_count;

enum {
	DENSE_COUNT_MAX = UINT8_MAX
};

struct dense {
	bool on;
	dense_count *
		*rows; /* by actor << DENSE_EVENT_BITS | event; NULL: no sample yet */
	size_t nr_rows;
	size_t nr_used;
	size_t nr_positions; /* length of each row */
	size_t nr_cells;     /* number of non-zero counts */
	uint32_t bucket;     /* of all counts; 0 without times */
	size_t nr_seen;      /* samples since the last change of the bucket */
};

void dense_done(struct dense *d);
/* Makes room for a row and a position.  Returns 0, -ENOMEM, or 1 if that would be too large; then
 * all counts are in `t` and `on` is false. */
int dense_extend(struct dense *d, struct tally *t, size_t row, size_t position);
/* Counts several samples, in `t` if the rows get too large (`on` is false then).  Returns 0 or
 * -ENOMEM. */
int dense_add(struct dense *d, struct tally *t, size_t row, size_t position,
	      uint64_t samples);
/* Returns whether there were enough samples since the last change of the bucket to pay for another
 * one, which reads all counts. */
static inline bool dense_can_change(const struct dense *d)
{
	return d->nr_seen * sizeof(uint64_t) >= d->nr_used * d->nr_positions;
}
/* Moves all counts to the tally and continues with another bucket.  Returns 0 or -ENOMEM. */
int dense_change(struct dense *d, struct tally *t, uint32_t bucket);
/* Moves all counts to the tally and sets `on` to false.  Returns 0 or -ENOMEM. */
int dense_flush(struct dense *d, struct tally *t);
/* Call it when a count has overflowed to 0: adds the lost DENSE_COUNT_MAX + 1 samples to the tally.
 * Returns 0 or -ENOMEM. */
int dense_carry(struct dense *d, struct tally *t, size_t row, size_t position);
