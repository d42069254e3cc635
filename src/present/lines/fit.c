/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/lines/fit.h"

static unsigned int blanks(size_t i, size_t nr)
{
	return i + 1 < nr ? 1 : 0;
}

/* Sets each width to what its cells need, and returns the sum. */
static unsigned int set_natural(struct fit_column *c, size_t nr)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < nr; i++) {
		/* A width of 0 means "not decided yet" below. */
		c[i].natural += !c[i].natural;
		c[i].width = c[i].natural + blanks(i, nr);
		sum += c[i].width;
	}
	return sum;
}

/* Widens the columns towards their usual widths, from the left, while there is room. */
static void widen(struct fit_column *c, size_t nr, unsigned int room)
{
	for (size_t i = 0; i + 1 < nr; i++) {
		unsigned int more =
			c[i].usual > c[i].width ? c[i].usual - c[i].width : 0;

		if (more > room)
			more = room;
		c[i].width += more;
		room -= more;
	}
}

static unsigned int least(const struct fit_column *c)
{
	return c->natural < FIT_LEAST ? c->natural : FIT_LEAST;
}

/* The free space to distribute: the columns beyond the minimum width of each name. */
struct room {
	unsigned int columns;
	/* Sum of the weights of the names whose width is not yet decided. */
	unsigned int weights;
};

/* Gives names that need no more than their share of the space the width that they need; the
 * other names share the rest.  Returns false if no name was settled. */
static bool settle_short_names(struct fit_column *c, size_t nr, struct room *room)
{
	const struct room of = *room;
	bool any = false;

	for (size_t i = 0; i < nr; i++) {
		unsigned int wanted = c[i].natural - least(&c[i]);

		if (!c[i].weight || c[i].width ||
		    wanted * of.weights > of.columns * c[i].weight)
			continue;
		c[i].width = c[i].natural + blanks(i, nr);
		room->columns -= wanted;
		room->weights -= c[i].weight;
		any = true;
	}
	return any;
}

static void share_out(struct fit_column *c, size_t nr, struct room room)
{
	for (size_t i = 0; i < nr; i++) {
		unsigned int part;

		if (!c[i].weight || c[i].width)
			continue;
		part = room.columns * c[i].weight / room.weights;
		room.columns -= part;
		room.weights -= c[i].weight;
		c[i].width = least(&c[i]) + part + blanks(i, nr);
	}
}

static void shorten_names(struct fit_column *c, size_t nr, unsigned int width)
{
	struct room room = { 0 };
	unsigned int taken = 0;

	for (size_t i = 0; i < nr; i++) {
		taken += blanks(i, nr) + (c[i].weight ? least(&c[i]) : c[i].natural);
		room.weights += c[i].weight;
		c[i].width = c[i].weight ? 0 : c[i].natural + blanks(i, nr);
	}
	room.columns = width > taken ? width - taken : 0;
	while (settle_short_names(c, nr, &room))
		;
	share_out(c, nr, room);
}

void fit_columns(struct fit_column *columns, size_t nr, unsigned int width)
{
	unsigned int sum = set_natural(columns, nr);

	if (sum <= width)
		widen(columns, nr, width - sum);
	else
		shorten_names(columns, nr, width);
}
