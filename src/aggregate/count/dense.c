/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/dense.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/tally.h"

enum {
	FIRST_PLACES = 1024,
	MAX_COUNTS = 16 << 20 /* 16 MB */
};

void dense_done(struct dense *d)
{
	for (size_t i = 0; i < d->nr_rows; i++)
		free(d->rows[i]);
	free(d->rows);
	*d = (struct dense){ 0 };
}

static int note(struct tally *t, size_t row, size_t place, uint64_t samples)
{
	uint64_t actor = row >> DENSE_EVENT_BITS;
	uint64_t event = row & ((1 << DENSE_EVENT_BITS) - 1);

	return tally_add_many(t, actor << 32 | place, event, samples, 0);
}

int dense_carry(struct dense *d, struct tally *t, size_t row, size_t place)
{
	d->nr_cells--;
	return note(t, row, place, (uint64_t)DENSE_COUNT_MAX + 1);
}

static int flush_row(dense_count *row, size_t number, size_t nr_places, struct tally *t)
{
	for (size_t place = 0; place < nr_places; place++) {
		if (row[place] && note(t, number, place, row[place]))
			return -ENOMEM;
		row[place] = 0;
	}
	return 0;
}

int dense_flush(struct dense *d, struct tally *t)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (d->rows[i] && flush_row(d->rows[i], i, d->nr_places, t))
			return -ENOMEM;
	}
	dense_done(d);
	return 0;
}

static int lengthen(struct dense *d, size_t nr_places)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		dense_count *grown;

		if (!d->rows[i])
			continue;
		grown = realloc(d->rows[i], nr_places * sizeof(*grown));
		/* Some rows are longer than needed, which is harmless. */
		if (!grown)
			return -ENOMEM;
		memset(grown + d->nr_places, 0,
		       (nr_places - d->nr_places) * sizeof(*grown));
		d->rows[i] = grown;
	}
	d->nr_places = nr_places;
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
	d->rows[row] = calloc(d->nr_places, sizeof(*d->rows[row]));
	if (!d->rows[row])
		return -ENOMEM;
	d->nr_used++;
	return 0;
}

int dense_extend(struct dense *d, struct tally *t, size_t row, size_t place)
{
	size_t nr_places = d->nr_places ? d->nr_places : FIRST_PLACES;

	while (nr_places <= place)
		nr_places *= 2;
	if ((d->nr_used + 1) * nr_places > MAX_COUNTS)
		return dense_flush(d, t) ? -ENOMEM : 1;
	if (nr_places != d->nr_places && lengthen(d, nr_places))
		return -ENOMEM;
	return dense_add_row(d, row);
}

int dense_add(struct dense *d, struct tally *t, size_t row, size_t place,
	      uint64_t samples)
{
	uint64_t sum;
	int r = !d->on;

	if (!r && (row >= d->nr_rows || !d->rows[row] || place >= d->nr_places))
		r = dense_extend(d, t, row, place);
	if (r < 0)
		return r;
	if (r)
		return note(t, row, place, samples);
	d->nr_cells -= d->rows[row][place] != 0;
	sum = d->rows[row][place] + samples;
	d->rows[row][place] = (dense_count)(sum & DENSE_COUNT_MAX);
	d->nr_cells += d->rows[row][place] != 0;
	sum &= ~(uint64_t)DENSE_COUNT_MAX;
	return sum ? note(t, row, place, sum) : 0;
}
