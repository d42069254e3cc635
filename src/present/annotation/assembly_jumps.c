/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/assembly_jumps.h"

#include <errno.h>
#include <stdlib.h>

#include "present/annotation/assembly.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

static size_t low_of(const struct jump *j)
{
	return j->from < j->to ? j->from : j->to;
}

static size_t high_of(const struct jump *j)
{
	return j->from < j->to ? j->to : j->from;
}

/* Orders short jumps first, so that they get the lanes next to the code. */
static int compare_jumps(const void *x, const void *y)
{
	const struct jump *a = x, *b = y;
	size_t long_a = high_of(a) - low_of(a), long_b = high_of(b) - low_of(b);

	if (long_a != long_b)
		return long_a < long_b ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static bool lane_is_free(const struct assembly_jumps *j, size_t nr,
			 const struct jump *jump, unsigned int lane)
{
	for (size_t i = 0; i < nr; i++) {
		const struct jump *other = &j->all.at[i];

		if (other->lane == lane && low_of(jump) <= high_of(other) &&
		    low_of(other) <= high_of(jump))
			return false;
	}
	return true;
}

static void choose_lanes(struct assembly_jumps *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->all.nr; i++) {
		struct jump jump = j->all.at[i];

		while (jump.lane < JUMP_LANES &&
		       !lane_is_free(j, kept, &jump, jump.lane))
			jump.lane++;
		if (jump.lane == JUMP_LANES)
			continue;
		j->all.at[kept++] = jump;
		if (jump.lane >= j->nr_lanes)
			j->nr_lanes = jump.lane + 1;
	}
	j->all.nr = kept;
}

int assembly_jumps_find(struct assembly_jumps *j, struct assembly *s, struct code *code)
{
	j->all.nr = 0;
	j->nr_lanes = 0;
	for (size_t i = 0; code && i < s->rows.nr; i++) {
		const struct assembly_row *to;
		struct insn insn;

		if (s->rows.at[i].no_code ||
		    code_insn(code, s->rows.at[i].address, &insn))
			continue;
		to = insn.has_target ? assembly_row_at(s, insn.target) : NULL;
		/* A branch to the beginning is a recursive call. */
		if (!to || to == s->rows.at || to == &s->rows.at[i])
			continue;
		if (!vec_push(&j->all,
			      ((struct jump){ .from = i, .to = to - s->rows.at })))
			return -ENOMEM;
	}
	if (j->all.nr)
		qsort(j->all.at, j->all.nr, sizeof(*j->all.at), compare_jumps);
	choose_lanes(j);
	return 0;
}

void assembly_jumps_done(struct assembly_jumps *j)
{
	vec_done(&j->all);
}

enum cell {
	CELL_EMPTY,
	CELL_DOWN, /* a vertical line that passes through the row */
	CELL_TOP,
	CELL_BOTTOM,
	CELL_ACROSS, /* to another lane */
	CELL_CROSS,
	CELL_HEAD /* next to the code */
};

static const char *const shapes[][2] = {
	[CELL_EMPTY] = { " ", " " },       [CELL_DOWN] = { "|", "\u2502" },
	[CELL_TOP] = { "/", "\u256d" },    [CELL_BOTTOM] = { "\\", "\u2570" },
	[CELL_ACROSS] = { "-", "\u2500" }, [CELL_CROSS] = { "+", "\u253c" },
	[CELL_HEAD] = { ">", "\u25b6" },
};

/* The arrows in a row. */
struct drawing {
	enum cell cells[JUMP_LANES];
	unsigned int across; /* outermost lane with a horizontal line */
	bool head;           /* an arrow ends here */
	bool line;           /* an arrow ends or begins here */
};

static void draw(struct drawing *d, const struct jump *jump, size_t row)
{
	enum cell *cell = &d->cells[jump->lane];

	if (row < low_of(jump) || row > high_of(jump))
		return;
	*cell = CELL_DOWN;
	if (row != jump->from && row != jump->to)
		return;
	*cell = row == low_of(jump) ? CELL_TOP : CELL_BOTTOM;
	d->line = true;
	d->head |= row == jump->to;
	if (jump->lane > d->across)
		d->across = jump->lane;
}

/* Writes the cell of a lane, and the cell between it and the next lane. */
static void put_lane(FILE *out, const struct drawing *d, unsigned int lane, bool utf8)
{
	enum cell cell = d->cells[lane];
	bool over = d->line && lane < d->across;

	if (over && cell == CELL_EMPTY)
		cell = CELL_ACROSS;
	else if (over && cell == CELL_DOWN)
		cell = CELL_CROSS;
	fputs(shapes[cell][utf8], out);
	if (!lane)
		return;
	over = d->line && lane <= d->across;
	fputs(shapes[over ? CELL_ACROSS : CELL_EMPTY][utf8], out);
}

void assembly_jumps_put(FILE *out, const struct assembly_jumps *j, size_t row,
			bool utf8)
{
	struct drawing d = { .cells = { CELL_EMPTY } };
	enum cell last = CELL_EMPTY;

	for (size_t i = 0; i < j->all.nr; i++)
		draw(&d, &j->all.at[i], row);
	for (unsigned int lane = j->nr_lanes; lane-- > 0;)
		put_lane(out, &d, lane, utf8);
	if (d.line)
		last = d.head ? CELL_HEAD : CELL_ACROSS;
	if (j->nr_lanes)
		fputs(shapes[last][utf8], out);
}
