/* dense.h - counts of (actor, event) rows by place, as plain arrays: what most reports need,
 * and eight times smaller than a tally.
 * Layer: aggregate.  Gives up when the rows together get too big; a tally goes on then. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally;

enum {
	DENSE_EVENT_BITS = 3 /* more events than these are counted in the tally */
};

/* Small, so that more of them stay in the caches; what runs over is carried. */
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
	size_t nr_places; /* length of each row */
	size_t nr_cells;  /* counts that are not 0 */
};

void dense_done(struct dense *d);
/* Makes room for a row and a place.  0; 1 when that would be too big (all is in `t` then,
 * and `on` is false); or -ENOMEM. */
int dense_extend(struct dense *d, struct tally *t, size_t row, size_t place);
/* Counts so many samples at once: here, or in `t` when it is too big for them (`on` is false then).
 * 0 or -ENOMEM. */
int dense_add(struct dense *d, struct tally *t, size_t row, size_t place,
	      uint64_t samples);
/* Moves all counts to the tally; `on` is false then.  0 or -ENOMEM. */
int dense_flush(struct dense *d, struct tally *t);
/* Notes in the tally that a count has run over, and is 0 now.  0 or -ENOMEM. */
int dense_carry(struct dense *d, struct tally *t, size_t row, size_t place);
