/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/dense.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tally.h"

enum {
	FIRST_POSITIONS = 1024,
	FLUSH_COUNTS = sizeof(uint64_t) / sizeof(dense_count), /* read at once */
	MAX_COUNTS = 16 << 20                                  /* 16 MB */
};

static_assert(FIRST_POSITIONS % FLUSH_COUNTS == 0, "rows have no rest");

void dense_done(struct dense *d)
{
	for (size_t i = 0; i < d->nr_rows; i++)
		free(d->rows[i]);
	free(d->rows);
	*d = (struct dense){ 0 };
}

static int note(const struct dense *d, struct tally *t, size_t row, size_t position,
		uint64_t samples)
{
	uint64_t actor = row >> DENSE_EVENT_BITS;
	uint64_t event = row & ((1 << DENSE_EVENT_BITS) - 1);
	uint64_t bucket = (uint64_t)d->bucket << (TALLY_EVENT_BITS + TALLY_CPU_BITS);

	return tally_add_many(t, actor << 32 | position, bucket | event, samples, 0);
}

int dense_carry(struct dense *d, struct tally *t, size_t row, size_t position)
{
	d->nr_cells--;
	return note(d, t, row, position, (uint64_t)DENSE_COUNT_MAX + 1);
}

static int flush_row(struct dense *d, size_t number, struct tally *t)
{
	dense_count *row = d->rows[number];

	for (size_t at = 0; at < d->nr_positions; at += FLUSH_COUNTS) {
		uint64_t some;

		/* Most counts are 0. */
		memcpy(&some, &row[at], sizeof(some));
		for (size_t i = at; some && i < at + FLUSH_COUNTS; i++) {
			if (row[i] && note(d, t, number, i, row[i]))
				return -ENOMEM;
			row[i] = 0;
		}
	}
	return 0;
}

int dense_change(struct dense *d, struct tally *t, uint32_t bucket)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (d->rows[i] && flush_row(d, i, t))
			return -ENOMEM;
	}
	d->nr_cells = 0;
	d->nr_seen = 0;
	d->bucket = bucket;
	return 0;
}

int dense_flush(struct dense *d, struct tally *t)
{
	if (dense_change(d, t, 0))
		return -ENOMEM;
	dense_done(d);
	return 0;
}

static int lengthen(struct dense *d, size_t nr_positions)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		dense_count *grown;

		if (!d->rows[i])
			continue;
		grown = realloc(d->rows[i], nr_positions * sizeof(*grown));
		/* Some rows are longer than needed, which is harmless. */
		if (!grown)
			return -ENOMEM;
		memset(grown + d->nr_positions, 0,
		       (nr_positions - d->nr_positions) * sizeof(*grown));
		d->rows[i] = grown;
	}
	d->nr_positions = nr_positions;
	return 0;
}

static int dense_add_row(struct dense *d, size_t row)
{
	if (row >= d->nr_rows) {
		size_t nr = (row + 1) * 2;
		dense_count **grown = realloc(d->rows, nr * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + d->nr_rows, 0, (nr - d->nr_rows) * sizeof(*grown));
		d->rows = grown;
		d->nr_rows = nr;
	}
	if (d->rows[row])
		return 0;
	d->rows[row] = calloc(d->nr_positions, sizeof(*d->rows[row]));
	if (!d->rows[row])
		return -ENOMEM;
	d->nr_used++;
	return 0;
}

int dense_extend(struct dense *d, struct tally *t, size_t row, size_t position)
{
	size_t nr_positions = d->nr_positions ? d->nr_positions : FIRST_POSITIONS;

	while (nr_positions <= position)
		nr_positions *= 2;
	if ((d->nr_used + 1) * nr_positions > MAX_COUNTS)
		return dense_flush(d, t) ? -ENOMEM : 1;
	if (nr_positions != d->nr_positions && lengthen(d, nr_positions))
		return -ENOMEM;
	return dense_add_row(d, row);
}

int dense_add(struct dense *d, struct tally *t, size_t row, size_t position,
	      uint64_t samples)
{
	uint64_t sum;
	int r = !d->on;

	if (!r && (row >= d->nr_rows || !d->rows[row] || position >= d->nr_positions))
		r = dense_extend(d, t, row, position);
	if (r < 0)
		return r;
	if (r)
		return note(d, t, row, position, samples);
	d->nr_cells -= d->rows[row][position] != 0;
	sum = d->rows[row][position] + samples;
	d->rows[row][position] = (dense_count)(sum & DENSE_COUNT_MAX);
	d->nr_cells += d->rows[row][position] != 0;
	sum &= ~(uint64_t)DENSE_COUNT_MAX;
	return sum ? note(d, t, row, position, sum) : 0;
}
