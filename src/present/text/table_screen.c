/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/table_screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/safe_text.h"
#include "present/lines/elide.h"
#include "present/lines/fit.h"
#include "present/lines/options.h"
#include "present/text/text_table.h"

enum {
	NATURAL_MAX = 1 << 16, /* wider than any screen */
	SYMBOL_WEIGHT = 2      /* function names get more space than other names */
};

bool table_screen_wanted(const struct text_table *t)
{
	const struct screen *s = &t->options->screen;

	return s->is_terminal || s->colour;
}

/* Returns the column's share of the space for names, or 0 for a number. */
static unsigned int weight_of(const struct text_table *t, const struct chosen *c)
{
	const struct key_list *keys = t->p->options.keys;

	if (c->column->key == KEY_ID_COUNT ||
	    keys->keys.at[c->at].row->kind != KEY_TEXT)
		return 0;
	return c->column->key == KEY_SYMBOL ? SYMBOL_WEIGHT : 1;
}

/* Stores the escaped text in t->cell. */
static void make_safe(struct text_table *t, const char *text, size_t len)
{
	buf_clear(&t->cell);
	if (len)
		safe_text_put(&t->cell, text, len, t->options->screen.utf8);
}

static size_t natural_width(struct text_table *t, const struct chosen *c,
			    const struct column_cell *cell)
{
	buf_clear(&t->raw);
	c->column->print(&t->raw, cell);
	make_safe(t, (const char *)t->raw.data, t->raw.len);
	return screen_columns((const char *)t->cell.data, t->cell.len);
}

static void measure_line(struct text_table *t, const struct line *line, uint64_t *sums,
			 struct fit_column *fits)
{
	struct column_cell cell = text_table_cell(t, line);

	cell.sums = sums;
	for (size_t i = 0; i < t->lines.nr_columns; i++)
		sums[i] += line->counts[i];
	for (size_t i = 0; i < t->chosen.nr; i++) {
		const struct chosen *c = &t->chosen.at[i];
		size_t width;

		cell.at = c->at;
		width = natural_width(t, c, &cell);
		if (width > fits[i].natural)
			fits[i].natural =
				width < NATURAL_MAX ? (unsigned int)width : NATURAL_MAX;
	}
}

int table_screen_fit(struct text_table *t)
{
	size_t nr = t->chosen.nr;
	struct fit_column *fits = calloc(nr + 1, sizeof(*fits));
	uint64_t *sums = calloc(t->lines.nr_columns + 1, sizeof(*sums));
	bool failed = !fits || !sums;

	for (size_t i = 0; !failed && i < nr; i++) {
		const struct chosen *c = &t->chosen.at[i];

		fits[i].usual = c->width;
		fits[i].weight = weight_of(t, c);
		if (!t->options->no_header)
			fits[i].natural = (unsigned int)strlen(c->title);
	}
	for (size_t i = 0; !failed && i < t->lines.all.nr; i++) {
		measure_line(t, &t->lines.all.at[i], sums, fits);
		failed = t->raw.failed || t->cell.failed;
	}
	if (!failed)
		fit_columns(fits, nr, t->options->screen.width);
	for (size_t i = 0; !failed && i < nr; i++) {
		struct chosen *c = &t->chosen.at[i];

		c->width = fits[i].width;
		c->most = fits[i].weight ? c->width - (i + 1 < nr) : 0;
	}
	free(fits);
	free(sums);
	return failed ? -ENOMEM : 0;
}

/* Appends the text, shortened to the column on a terminal, and returns its width.  In files the
 * width is in bytes, as in every layout of OProfile. */
static size_t put_fitting(struct text_table *t, const struct chosen *c,
			  const char *text, size_t len)
{
	const struct screen *s = &t->options->screen;

	if (!s->is_terminal) {
		size_t from = t->text.len;

		buf_put(&t->text, text, len);
		screen_make_safe(&t->text, from);
		return t->text.len - from;
	}
	make_safe(t, text, len);
	return elide_put(&t->text, (const char *)t->cell.data, t->cell.len,
			 c->most ? c->most : SIZE_MAX, s->utf8);
}

static void table_screen_put_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

static void table_screen_pad(struct text_table *t, const struct chosen *c, size_t used)
{
	do
		buf_put_u8(&t->text, ' ');
	while (++used < c->width);
}

void table_screen_put(struct text_table *t, const struct chosen *c,
		      const struct column_cell *cell, bool last)
{
	const char *colour = "";
	size_t used;

	buf_clear(&t->raw);
	c->column->print(&t->raw, cell);
	if (!strcmp(c->column->name, "percent"))
		colour = screen_share_colour(
			&t->options->screen,
			percent_of(cell->counts[c->at], cell->totals[c->at]));
	table_screen_put_text(&t->text, colour);
	used = put_fitting(t, c, (const char *)t->raw.data, t->raw.len);
	if (*colour)
		table_screen_put_text(&t->text, SCREEN_PLAIN);
	if (!last)
		table_screen_pad(t, c, used);
}

void table_screen_title(struct text_table *t, const struct chosen *c, bool last)
{
	const char *title = c->title;
	bool colour = t->options->screen.colour;
	size_t used;

	if (colour)
		table_screen_put_text(&t->text, SCREEN_BOLD);
	used = put_fitting(t, c, title, strlen(title));
	if (colour)
		table_screen_put_text(&t->text, SCREEN_PLAIN);
	if (!last)
		table_screen_pad(t, c, used);
}
