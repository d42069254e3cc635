#include "aggregate/tally.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/sort_numbers.h"
#include "resolve/sort_keys.h"

enum {
	FIRST_NOTES = 1 << 13, /* 256 KB: they stay in the caches */
	NOTE_BITS = 18,
	MAX_NOTES = 1 << NOTE_BITS,
	SPARE = 4,
	FEW = 16, /* so many notes a possible cell make plain counters the best */
	FEW_BITS = 11,
	KEY_BITS = 64
};

/* The parts of a pair, the last first; together they are a key that orders as the pairs
 * do. */
enum part {
	PART_EVENT,
	PART_PLACE,
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
	[PART_PLACE] = { false, 0, 32 },
	[PART_ACTOR] = { false, 32, 32 },
	[PART_CPU] = { true, TALLY_EVENT_BITS, TALLY_CPU_BITS },
	[PART_BUCKET] = { true, TALLY_EVENT_BITS + TALLY_CPU_BITS, 32 },
};

/* How pairs are packed: of each part the bits that are in use. */
struct packing {
	unsigned int at[PART_COUNT]; /* in the key */
	uint64_t mask[PART_COUNT];   /* of the value */
	unsigned int bits;           /* of the key; more than KEY_BITS: there is none */
};

static void run_done(struct tally_run *run)
{
	huge_zfree(run->cells, run->room, sizeof(*run->cells));
	*run = (struct tally_run){ 0 };
}

void tally_done(struct tally *t)
{
	for (size_t i = 0; i < t->nr_runs; i++)
		run_done(&t->runs[i]);
	run_done(&t->spare);
	free(t->notes);
	free(t->keys);
	huge_zfree(t->cells, t->cells_room, sizeof(*t->cells));
	*t = (struct tally){ 0 };
}

void tally_forget(struct tally *t, size_t nr)
{
	huge_forget(t->cells, nr * sizeof(*t->cells));
}

static inline uint64_t part_of(uint64_t a, uint64_t b, enum part part)
{
	return ((parts[part].of_b ? b : a) >> parts[part].shift) &
	       ((1ULL << parts[part].bits) - 1);
}

static struct packing find_packing(const struct tally *t)
{
	struct packing p = { 0 };

	for (enum part i = 0; i < PART_COUNT; i++) {
		uint64_t some = part_of(t->some_a, t->some_b, i);
		unsigned int bits = some ? 64 - (unsigned int)__builtin_clzll(some) : 0;

		p.at[i] = bits ? p.bits : 0;
		p.mask[i] = (1ULL << bits) - 1;
		p.bits += bits;
	}
	return p;
}

static inline uint64_t pack(const struct packing *p, const struct tally_cell *c)
{
	uint64_t key = 0;

	for (enum part i = 0; i < PART_COUNT; i++)
		key |= part_of(c->a, c->b, i) << p->at[i];
	return key;
}

static struct tally_cell unpack(const struct packing *p, uint64_t key)
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

/* In the order of cells. */
static int compare(const struct tally_cell *x, const struct tally_cell *y)
{
	uint64_t x_first = x->b >> TALLY_EVENT_BITS;
	uint64_t y_first = y->b >> TALLY_EVENT_BITS;

	if (x_first != y_first)
		return x_first < y_first ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* A run of `nr` cells, without their contents. */
static int make_run(struct tally *t, size_t nr, struct tally_run *run)
{
	if (t->spare.room >= nr && t->spare.room / SPARE <= nr) {
		*run = (struct tally_run){ t->spare.cells, 0, t->spare.room };
		t->spare = (struct tally_run){ 0 };
		return 0;
	}
	*run = (struct tally_run){ .cells = huge_zalloc(nr + 1, sizeof(*run->cells)),
				   .room = nr + 1 };
	return run->cells ? 0 : -ENOMEM;
}

/* The memory of a run that is no more is the next one's: fresh memory is cleared first. */
static void keep_spare(struct tally *t, const struct tally_run *run)
{
	run_done(&t->spare);
	t->spare = *run;
}

static void add_counts(struct tally_cell *to, const struct tally_cell *from)
{
	to->samples += from->samples;
	to->period += from->period;
}

/* Notes that are all of the same counts: their keys say everything. */
static int sum_up_plain(struct tally *t, const struct packing *p, struct tally_run *run)
{
	size_t nr = t->nr_notes;
	const uint64_t *keys;
	size_t nr_keys = 1;

	for (size_t i = 0; i < nr; i++)
		t->keys[i] = pack(p, &t->notes[i]);
	keys = sort_numbers(t->keys, t->keys + nr, nr, 0);
	for (size_t i = 1; i < nr; i++)
		nr_keys += keys[i] != keys[i - 1];
	if (make_run(t, nr_keys, run))
		return -ENOMEM;
	for (size_t i = 0; i < nr;) {
		struct tally_cell c = unpack(p, keys[i]);
		size_t end = i + 1;

		while (end < nr && keys[end] == keys[i])
			end++;
		c.samples = t->notes[0].samples * (end - i);
		c.period = t->notes[0].period * (end - i);
		run->cells[run->nr++] = c;
		i = end;
	}
	return 0;
}

/* The key has room for the number of its note. */
static int sum_up_sorted(struct tally *t, const struct packing *p,
			 struct tally_run *run)
{
	size_t nr = t->nr_notes;
	const uint64_t *keys;
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++)
		t->keys[i] = pack(p, &t->notes[i]) << NOTE_BITS | i;
	keys = sort_numbers(t->keys, t->keys + nr, nr, NOTE_BITS);
	if (make_run(t, nr, run))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct tally_cell *note = &t->notes[keys[i] & (MAX_NOTES - 1)];
		uint64_t key = keys[i] >> NOTE_BITS;

		if (i && key == last)
			add_counts(&run->cells[run->nr - 1], note);
		else
			run->cells[run->nr++] = *note;
		last = key;
	}
	return 0;
}

/* There is no room for it. */
static int sum_up_long(struct tally *t, const struct packing *p, struct tally_run *run)
{
	size_t nr = t->nr_notes;
	struct sort_key *keys = huge_alloc(nr * sizeof(*keys));
	int r = keys ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++)
		keys[i] = (struct sort_key){ pack(p, &t->notes[i]), (uint32_t)i };
	if (!r)
		r = sort_keys(&keys, nr);
	if (!r)
		r = make_run(t, nr, run);
	for (size_t i = 0; !r && i < nr; i++) {
		const struct tally_cell *note = &t->notes[keys[i].index];

		if (i && keys[i].at == keys[i - 1].at)
			add_counts(&run->cells[run->nr - 1], note);
		else
			run->cells[run->nr++] = *note;
	}
	free(keys);
	return r;
}

static int compare_cells(const void *x, const void *y)
{
	return compare(x, y);
}

/* Pairs too wide for a key: no recording has so many of everything. */
static int sum_up_wide(struct tally *t, struct tally_run *run)
{
	qsort(t->notes, t->nr_notes, sizeof(*t->notes), compare_cells);
	if (make_run(t, t->nr_notes, run))
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_notes; i++) {
		const struct tally_cell *note = &t->notes[i];

		if (i && !compare(note, note - 1))
			add_counts(&run->cells[run->nr - 1], note);
		else
			run->cells[run->nr++] = *note;
	}
	return 0;
}

/* Few different keys: a counter for each. */
static int sum_up_few(struct tally *t, const struct packing *p, struct tally_run *run)
{
	size_t nr = (size_t)1 << p->bits;

	if (make_run(t, nr, run))
		return -ENOMEM;
	memset(run->cells, 0, nr * sizeof(*run->cells));
	for (size_t i = 0; i < t->nr_notes; i++)
		add_counts(&run->cells[pack(p, &t->notes[i])], &t->notes[i]);
	for (size_t key = 0; key < nr; key++) {
		struct tally_cell c = unpack(p, key);

		if (!run->cells[key].samples)
			continue;
		add_counts(&c, &run->cells[key]);
		run->cells[run->nr++] = c;
	}
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

/* Room for `nr` cells in a run, and for later ones: memory that is not touched costs nothing. */
static int reserve_cells(struct tally_run *run, size_t nr)
{
	struct tally_cell *cells;

	if (nr <= run->room)
		return 0;
	cells = huge_zgrow(run->cells, run->room, nr * SPARE, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	run->cells = cells;
	run->room = nr * SPARE;
	return 0;
}

/* Adds the cells of `y` to `x`, from the last one on: times and threads go up, so that most runs
 * lie behind the ones before them, whose cells stay where they are.  0 or -ENOMEM. */
static int merge(struct tally_run *x, const struct tally_run *y)
{
	size_t i = x->nr;
	size_t j = y->nr;
	size_t to = i + j;
	size_t nr_merged;

	if (reserve_cells(x, to))
		return -ENOMEM;
	while (i && j) {
		int order = compare(&x->cells[i - 1], &y->cells[j - 1]);
		struct tally_cell c = order >= 0 ? x->cells[i - 1] : y->cells[j - 1];

		if (!order)
			add_counts(&c, &y->cells[j - 1]);
		i -= order >= 0;
		j -= order <= 0;
		x->cells[--to] = c;
	}
	nr_merged = x->nr + y->nr - to;
	memcpy(x->cells + i, y->cells, j * sizeof(*y->cells));
	/* What both had leaves a gap. */
	memmove(x->cells + i + j, x->cells + to, nr_merged * sizeof(*x->cells));
	x->nr = i + j + nr_merged;
	return 0;
}

static int merge_last_two(struct tally *t)
{
	struct tally_run *x = &t->runs[t->nr_runs - 2];
	struct tally_run *y = &t->runs[t->nr_runs - 1];
	size_t nr = x->nr + y->nr;

	if (merge(x, y))
		return -ENOMEM;
	t->nr_summed -= nr - x->nr;
	keep_spare(t, y);
	t->nr_runs--;
	return 0;
}

/* The last run is at least half as long as the one before, or lies nearly behind it. */
static bool is_worth_merging(const struct tally *t)
{
	const struct tally_run *x = &t->runs[t->nr_runs - 2];
	const struct tally_run *y = &t->runs[t->nr_runs - 1];
	size_t most = 2 * y->nr;

	return x->nr < most ||
	       (y->nr && compare(&x->cells[x->nr - most], &y->cells[0]) < 0);
}

static int sum_up(struct tally *t, const struct packing *p)
{
	struct tally_run run = { 0 };
	int r;

	if (!t->nr_notes)
		return 0;
	if (are_few(t, p))
		r = sum_up_few(t, p, &run);
	else if (p->bits > KEY_BITS)
		r = sum_up_wide(t, &run);
	else if (all_alike(t))
		r = sum_up_plain(t, p, &run);
	else if (p->bits <= KEY_BITS - NOTE_BITS)
		r = sum_up_sorted(t, p, &run);
	else
		r = sum_up_long(t, p, &run);
	if (r)
		return r;
	t->nr_notes = 0;
	t->some_a = t->some_b = 0;
	t->nr_summed += run.nr;
	t->runs[t->nr_runs++] = run;
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

	if (sum_up(t, &p))
		return -ENOMEM;
	/* As many notes as cells, so that both are walked through equally often. */
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

	if (sum_up(t, &p))
		return -ENOMEM;
	free(t->notes);
	free(t->keys);
	t->notes = NULL;
	t->keys = NULL;
	t->room = 0;
	if (tally_settle(t))
		return -ENOMEM;
	run_done(&t->spare);
	if (t->nr_runs) {
		t->cells = t->runs[0].cells;
		t->nr_cells = t->runs[0].nr;
		t->cells_room = t->runs[0].room;
		t->nr_runs = 0;
	}
	return 0;
}
