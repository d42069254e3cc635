/* tally.h - the innermost table: counts by a pair of numbers.
 * Layer: aggregate.  One probe a sample; this is where the time of a report goes. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct tally_cell {
	uint64_t a;
	uint64_t b;
	uint64_t samples; /* 0: an empty cell */
	uint64_t period;
};

struct tally {
	struct tally_cell *cells;
	size_t nr_cells; /* a power of two */
	unsigned int shift;
	size_t nr_used;
};

/* 0 or -ENOMEM. */
int tally_init(struct tally *t);
void tally_done(struct tally *t);
/* 0 or -ENOMEM; the table is as before then. */
int tally_grow(struct tally *t);

static inline size_t tally_slot(const struct tally *t, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b * 0xc2b2ae3d27d4eb4fULL)) * 0x9e3779b97f4a7c15ULL;

	/* The middle bits of a product depend on all bits below them only: fold first. */
	h ^= h >> 32;
	return (size_t)((h * 0x9e3779b97f4a7c15ULL) >> t->shift);
}

static inline void tally_prefetch(const struct tally *t, uint64_t a, uint64_t b)
{
	__builtin_prefetch(&t->cells[tally_slot(t, a, b)], 1);
}

/* 0 or -ENOMEM; the table is as before then. */
int tally_add_many(struct tally *t, uint64_t a, uint64_t b, uint64_t samples);

/* Counts one sample.  0 or -ENOMEM. */
static inline int tally_add(struct tally *t, uint64_t a, uint64_t b, uint64_t period)
{
	size_t i = tally_slot(t, a, b);
	struct tally_cell *cell = &t->cells[i];

	while (cell->samples && (cell->a != a || cell->b != b)) {
		i = (i + 1) & (t->nr_cells - 1);
		cell = &t->cells[i];
	}
	cell->period += period;
	if (cell->samples++)
		return 0;
	cell->a = a;
	cell->b = b;
	if (++t->nr_used * 2 > t->nr_cells)
		return tally_grow(t);
	return 0;
}
