/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/count/tally.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/huge.h"
#include "base/containers/sort_keys.h"
#include "base/containers/sort_numbers.h"
#include "base/saturate.h"

enum {
	FIRST_NOTES = 1 << 13, /* 256 KB, so that they stay in CPU caches */
	NOTE_BITS = 18,
	MAX_NOTES = 1 << NOTE_BITS,
	SPARE = 4,
	/* From this many notes per possible cell on, one plain counter per cell is fastest. */
	FEW = 16,
	FEW_BITS = 11,
	KEY_BITS = 64
};

/* The components of a pair, least significant first.  Concatenated, they form a key that sorts
 * like the pairs. */
enum part {
	PART_EVENT,
	PART_POSITION,
	PART_ACTOR,
	PART_CPU,
	PART_BUCKET,
	PART_COUNT
};

static const struct {
	bool of_b;
	unsigned int shift;
	unsigned int bits;
} parts[PART_COUNT] = {
	[PART_EVENT] = { true, 0, TALLY_EVENT_BITS },
	[PART_POSITION] = { false, 0, 32 },
	[PART_ACTOR] = { false, 32, 32 },
	[PART_CPU] = { true, TALLY_EVENT_BITS, TALLY_CPU_BITS },
	[PART_BUCKET] = { true, TALLY_EVENT_BITS + TALLY_CPU_BITS, 32 },
};

/* The layout of packed pairs: only the bits of each component that are in use. */
struct packing {
	unsigned int at[PART_COUNT]; /* shift within the key */
	uint64_t mask[PART_COUNT];   /* of the value */
	unsigned int bits;           /* of the key; more than KEY_BITS: no key fits */
};

void tally_done(struct tally *t)
{
	free(t->notes);
	free(t->keys);
	huge_zfree(t->cells, t->cells_room, sizeof(*t->cells));
	*t = (struct tally){ 0 };
}

void tally_forget(struct tally *t, size_t nr)
{
	huge_forget(t->cells, nr * sizeof(*t->cells));
}

static inline uint64_t tally_part_of(uint64_t a, uint64_t b, enum part part)
{
	return ((parts[part].of_b ? b : a) >> parts[part].shift) &
	       ((1ULL << parts[part].bits) - 1);
}

static struct packing find_packing(const struct tally *t)
{
	struct packing p = { 0 };

	for (enum part i = 0; i < PART_COUNT; i++) {
		uint64_t some = tally_part_of(t->some_a, t->some_b, i);
		unsigned int bits = some ? 64 - (unsigned int)__builtin_clzll(some) : 0;

		p.at[i] = bits ? p.bits : 0;
		p.mask[i] = (1ULL << bits) - 1;
		p.bits += bits;
	}
	return p;
}

static inline uint64_t tally_pack(const struct packing *p, const struct tally_cell *c)
{
	uint64_t key = 0;

	for (enum part i = 0; i < PART_COUNT; i++)
		key |= tally_part_of(c->a, c->b, i) << p->at[i];
	return key;
}

static struct tally_cell tally_unpack(const struct packing *p, uint64_t key)
{
	struct tally_cell c = { 0 };

	for (enum part i = 0; i < PART_COUNT; i++) {
		uint64_t value = (key >> p->at[i] & p->mask[i]) << parts[i].shift;

		if (parts[i].of_b)
			c.b |= value;
		else
			c.a |= value;
	}
	return c;
}

/* Compares in the order of cells. */
static int tally_compare(const struct tally_cell *x, const struct tally_cell *y)
{
	uint64_t x_first = x->b >> TALLY_EVENT_BITS;
	uint64_t y_first = y->b >> TALLY_EVENT_BITS;

	if (x_first != y_first)
		return x_first < y_first ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Returns room for `nr` cells after all runs, which can move; NULL if memory is short.
 * Allocates more than needed: untouched memory costs nothing, and huge_zgrow() does not copy. */
static struct tally_cell *make_run(struct tally *t, size_t nr)
{
	size_t needed = t->nr_summed + nr;
	struct tally_cell *cells;

	if (needed > t->cells_room) {
		cells = huge_zgrow(t->cells, t->cells_room, needed * SPARE,
				   sizeof(*cells));
		if (!cells)
			return NULL;
		t->cells = cells;
		t->cells_room = needed * SPARE;
	}
	return t->cells + t->nr_summed;
}

/* Records a run of `nr` cells; without cells, there is no run. */
static void end_run(struct tally *t, size_t nr)
{
	if (!nr)
		return;
	t->nr_summed += nr;
	t->run_nr[t->nr_runs++] = nr;
}

static void tally_add_counts(struct tally_cell *to, const struct tally_cell *from)
{
	to->samples = saturating_add(to->samples, from->samples);
	to->period = saturating_add(to->period, from->period);
}

/* Sums up notes with equal counts: only their keys matter. */
static int sum_up_plain(struct tally *t, const struct packing *p)
{
	size_t nr = t->nr_notes;
	struct tally_cell *cells;
	const uint64_t *keys;
	size_t nr_keys = 1;
	size_t nr_cells = 0;

	for (size_t i = 0; i < nr; i++)
		t->keys[i] = tally_pack(p, &t->notes[i]);
	keys = sort_numbers(t->keys, t->keys + nr, nr, 0);
	for (size_t i = 1; i < nr; i++)
		nr_keys += keys[i] != keys[i - 1];
	cells = make_run(t, nr_keys);
	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < nr;) {
		struct tally_cell c = tally_unpack(p, keys[i]);
		size_t end = i + 1;

		while (end < nr && keys[end] == keys[i])
			end++;
		c.samples = saturating_multiply(t->notes[0].samples, end - i);
		c.period = saturating_multiply(t->notes[0].period, end - i);
		cells[nr_cells++] = c;
		i = end;
	}
	end_run(t, nr_cells);
	return 0;
}

/* Sums up notes with keys that leave room for the index of the note. */
static int sum_up_sorted(struct tally *t, const struct packing *p)
{
	size_t nr = t->nr_notes;
	struct tally_cell *cells;
	const uint64_t *keys;
	size_t nr_cells = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++)
		t->keys[i] = tally_pack(p, &t->notes[i]) << NOTE_BITS | i;
	keys = sort_numbers(t->keys, t->keys + nr, nr, NOTE_BITS);
	cells = make_run(t, nr);
	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct tally_cell *note = &t->notes[keys[i] & (MAX_NOTES - 1)];
		uint64_t key = keys[i] >> NOTE_BITS;

		if (i && key == last)
			tally_add_counts(&cells[nr_cells - 1], note);
		else
			cells[nr_cells++] = *note;
		last = key;
	}
	end_run(t, nr_cells);
	return 0;
}

/* Sums up notes with keys too long to also hold the index. */
static int sum_up_long(struct tally *t, const struct packing *p)
{
	size_t nr = t->nr_notes;
	struct sort_key *keys = huge_alloc(nr * sizeof(*keys));
	struct tally_cell *cells = keys ? make_run(t, nr) : NULL;
	size_t nr_cells = 0;
	int r = cells ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++)
		keys[i] = (struct sort_key){ tally_pack(p, &t->notes[i]), (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	for (size_t i = 0; !r && i < nr; i++) {
		const struct tally_cell *note = &t->notes[keys[i].index];

		if (i && keys[i].at == keys[i - 1].at)
			tally_add_counts(&cells[nr_cells - 1], note);
		else
			cells[nr_cells++] = *note;
	}
	if (!r)
		end_run(t, nr_cells);
	free(keys);
	return r;
}

static int compare_cells(const void *x, const void *y)
{
	return tally_compare(x, y);
}

/* Sums up pairs too wide for a key, which no real recording has. */
static int sum_up_wide(struct tally *t)
{
	struct tally_cell *cells = make_run(t, t->nr_notes);
	size_t nr_cells = 0;

	if (!cells)
		return -ENOMEM;
	qsort(t->notes, t->nr_notes, sizeof(*t->notes), compare_cells);
	for (size_t i = 0; i < t->nr_notes; i++) {
		const struct tally_cell *note = &t->notes[i];

		if (i && !tally_compare(note, note - 1))
			tally_add_counts(&cells[nr_cells - 1], note);
		else
			cells[nr_cells++] = *note;
	}
	end_run(t, nr_cells);
	return 0;
}

/* Sums up notes with few possible keys: one counter per key. */
static int sum_up_few(struct tally *t, const struct packing *p)
{
	size_t nr = (size_t)1 << p->bits;
	struct tally_cell *cells = make_run(t, nr);
	size_t nr_cells = 0;

	if (!cells)
		return -ENOMEM;
	memset(cells, 0, nr * sizeof(*cells));
	for (size_t i = 0; i < t->nr_notes; i++)
		tally_add_counts(&cells[tally_pack(p, &t->notes[i])], &t->notes[i]);
	for (size_t key = 0; key < nr; key++) {
		struct tally_cell c = tally_unpack(p, key);

		if (!cells[key].samples)
			continue;
		tally_add_counts(&c, &cells[key]);
		cells[nr_cells++] = c;
	}
	end_run(t, nr_cells);
	return 0;
}

static bool all_alike(const struct tally *t)
{
	for (size_t i = 1; i < t->nr_notes; i++) {
		if (t->notes[i].period != t->notes[0].period ||
		    t->notes[i].samples != t->notes[0].samples)
			return false;
	}
	return true;
}

static bool are_few(const struct tally *t, const struct packing *p)
{
	return p->bits < FEW_BITS && t->nr_notes >= (size_t)FEW << p->bits;
}

/* Returns how many cells of the run sort at or before `c`. */
static size_t nr_up_to(const struct tally_cell *run, size_t nr,
		       const struct tally_cell *c)
{
	size_t from = 0;

	while (from < nr) {
		size_t middle = from + (nr - from) / 2;

		if (tally_compare(&run[middle], c) <= 0)
			from = middle + 1;
		else
			nr = middle;
	}
	return from;
}

/* Merges `other` into the run in place, from the last cell on; the run must have room for all
 * cells.  Returns the new number of cells. */
static size_t tally_merge(struct tally_cell *run, size_t nr,
			  const struct tally_cell *other, size_t nr_other)
{
	size_t i = nr;
	size_t j = nr_other;
	size_t to = nr + nr_other;
	size_t nr_merged;

	while (i && j) {
		int order = tally_compare(&run[i - 1], &other[j - 1]);
		struct tally_cell c = order >= 0 ? run[i - 1] : other[j - 1];

		if (!order)
			tally_add_counts(&c, &other[j - 1]);
		i -= order >= 0;
		j -= order <= 0;
		run[--to] = c;
	}
	nr_merged = nr + nr_other - to;
	memcpy(run + i, other, j * sizeof(*other));
	/* Cells with the same pair were merged, which leaves a gap. */
	memmove(run + i + j, run + to, nr_merged * sizeof(*run));
	return i + j + nr_merged;
}

/* Merges the last two runs. Times and threads mostly ascend, so most of the last run sorts after
 * the previous one.  Those cells stay in place; the others are moved aside first.  Returns 0 or
 * -ENOMEM. */
static int merge_last_two(struct tally *t)
{
	size_t nr_last = t->run_nr[t->nr_runs - 1];
	size_t nr = t->run_nr[t->nr_runs - 2];
	struct tally_cell *last = t->cells + t->nr_summed - nr_last;
	size_t among = nr ? nr_up_to(last, nr_last, &last[-1]) : 0;
	struct tally_cell *aside = make_run(t, among);
	size_t nr_merged;

	if (!aside)
		return -ENOMEM;
	last = aside - nr_last;
	memcpy(aside, last, among * sizeof(*last));
	nr_merged = tally_merge(last - nr, nr, aside, among);
	memmove(last - nr + nr_merged, last + among, (nr_last - among) * sizeof(*last));
	t->nr_summed -= nr + among - nr_merged;
	t->run_nr[t->nr_runs - 2] = nr_merged + nr_last - among;
	t->nr_runs--;
	return 0;
}

/* Returns true if the last run is at least half as long as the previous one, or sorts mostly
 * after it. */
static bool is_worth_merging(const struct tally *t)
{
	size_t nr_last = t->run_nr[t->nr_runs - 1];
	size_t nr = t->run_nr[t->nr_runs - 2];
	const struct tally_cell *last = t->cells + t->nr_summed - nr_last;

	return nr < 2 * nr_last ||
	       (nr_last && tally_compare(last - 2 * nr_last, last) < 0);
}

static int tally_sum_up(struct tally *t, const struct packing *p)
{
	int r;

	if (!t->nr_notes)
		return 0;
	if (are_few(t, p))
		r = sum_up_few(t, p);
	else if (p->bits > KEY_BITS)
		r = sum_up_wide(t);
	else if (all_alike(t))
		r = sum_up_plain(t, p);
	else if (p->bits <= KEY_BITS - NOTE_BITS)
		r = sum_up_sorted(t, p);
	else
		r = sum_up_long(t, p);
	if (r)
		return r;
	t->nr_notes = 0;
	t->some_a = t->some_b = 0;
	while (t->nr_runs > 1 && is_worth_merging(t)) {
		if (merge_last_two(t))
			return -ENOMEM;
	}
	return 0;
}

int tally_make_room(struct tally *t)
{
	struct packing p = find_packing(t);
	size_t room = t->room ? t->room * 2 : FIRST_NOTES;
	struct tally_cell *notes;
	uint64_t *keys;

	if (tally_sum_up(t, &p))
		return -ENOMEM;
	/* Keep as many notes as cells, so that the passes over both are balanced. */
	if (t->room && (t->nr_summed < t->room || room > MAX_NOTES))
		return 0;
	notes = huge_alloc(room * sizeof(*notes));
	keys = huge_alloc(2 * room * sizeof(*keys));
	if (!notes || !keys) {
		free(notes);
		free(keys);
		return -ENOMEM;
	}
	free(t->notes);
	free(t->keys);
	t->notes = notes;
	t->keys = keys;
	t->room = room;
	return 0;
}

int tally_settle(struct tally *t)
{
	while (t->nr_runs > 1) {
		if (merge_last_two(t))
			return -ENOMEM;
	}
	return 0;
}

int tally_finish(struct tally *t)
{
	struct packing p = find_packing(t);

	if (tally_sum_up(t, &p))
		return -ENOMEM;
	free(t->notes);
	free(t->keys);
	t->notes = NULL;
	t->keys = NULL;
	t->room = 0;
	if (tally_settle(t))
		return -ENOMEM;
	t->nr_cells = t->nr_summed;
	t->nr_runs = 0;
	return 0;
}
