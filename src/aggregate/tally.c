#include "aggregate/tally.h"

#include <errno.h>
#include <stdlib.h>

#include "base/huge.h"

enum {
	FIRST_BITS = 12
};

/* All of a table gets used, so it is better filled at once than page by page. */
static int make(struct tally *t, unsigned int bits)
{
	*t = (struct tally){ .nr_cells = (size_t)1 << bits, .shift = 64 - bits };
	t->cells = huge_zalloc(t->nr_cells, sizeof(*t->cells));
	return t->cells ? 0 : -ENOMEM;
}

int tally_init(struct tally *t)
{
	return make(t, FIRST_BITS);
}

void tally_done(struct tally *t)
{
	free(t->cells);
	*t = (struct tally){ 0 };
}

int tally_grow(struct tally *t)
{
	struct tally bigger;

	if (make(&bigger, 64 - t->shift + 1))
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_cells; i++) {
		const struct tally_cell *old = &t->cells[i];
		size_t at;

		if (!old->samples)
			continue;
		at = tally_slot(&bigger, old->a, old->b);
		while (bigger.cells[at].samples)
			at = (at + 1) & (bigger.nr_cells - 1);
		bigger.cells[at] = *old;
	}
	bigger.nr_used = t->nr_used;
	free(t->cells);
	*t = bigger;
	return 0;
}

int tally_add_many(struct tally *t, uint64_t a, uint64_t b, uint64_t samples)
{
	size_t i = tally_slot(t, a, b);

	if ((t->nr_used + 1) * 2 > t->nr_cells) {
		if (tally_grow(t))
			return -ENOMEM;
		i = tally_slot(t, a, b);
	}
	while (t->cells[i].samples && (t->cells[i].a != a || t->cells[i].b != b))
		i = (i + 1) & (t->nr_cells - 1);
	t->nr_used += !t->cells[i].samples;
	t->cells[i].a = a;
	t->cells[i].b = b;
	t->cells[i].samples += samples;
	return 0;
}
