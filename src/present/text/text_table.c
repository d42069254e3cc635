/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/text_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "compare/interval.h"
#include "format/foreign/opreport_text.h"
#include "present/lines/options.h"
#include "present/lines/screen.h"
#include "present/text/header.h"
#include "present/text/table_screen.h"

enum {
	WIDE_DIGITS = 16,
	WRITTEN_AT_ONCE = 1 << 16 /* bytes */
};

int text_table_choose(struct text_table *t, const char *column, size_t at)
{
	struct chosen c = { .column = column_find(column), .at = at };

	c.width = c.column->width;
	c.title = c.column->title;
	c.of_vma = !strcmp(column, "vma");
	c.of_count = !strcmp(column, "samples") || !strcmp(column, "percent") ||
		     !strcmp(column, "values");
	c.of_word = t->options->details && t->options->debug_info &&
		    (!strcmp(column, "image") || !strcmp(column, "app") ||
		     !strcmp(column, "linenr"));
	return vec_push(&t->chosen, c) ? 0 : -ENOMEM;
}

/* Chooses the ratio columns, after the counts; the title is the option's argument. */
static int choose_ratios(struct text_table *t)
{
	for (size_t i = 0; i < t->options->nr_ratios; i++) {
		const char *text = t->options->ratios[i];
		struct ratio ratio;
		struct chosen *c;

		if (ratio_find(t->p, &t->lines, text, &ratio))
			continue;
		if (!vec_push(&t->ratios, ratio) ||
		    text_table_choose(t, "ratio", t->ratios.nr - 1))
			return -ENOMEM;
		c = &t->chosen.at[t->chosen.nr - 1];
		c->title = text;
		if (strlen(text) >= c->width)
			c->width = (unsigned int)strlen(text) + 1;
	}
	return 0;
}

int text_table_choose_counts(struct text_table *t)
{
	bool sums = t->options->accumulated;

	for (size_t i = 0; i < t->lines.nr_columns; i++) {
		bool values = lines_has_values(&t->lines, t->p, i);

		if ((t->lines.inclusive &&
		     (text_table_choose(t, "total", i) ||
		      text_table_choose(t, "total-percent", i))) ||
		    text_table_choose(t, values ? "values" : "samples", i) ||
		    (t->options->periods &&
		     text_table_choose(t, values ? "value-samples" : "period", i)) ||
		    (sums && text_table_choose(t, "sum", i)) ||
		    text_table_choose(t, "percent", i) ||
		    (t->options->confidence > 0 &&
		     text_table_choose(t, "interval", i)) ||
		    (sums && text_table_choose(t, "sum-percent", i)))
			return -ENOMEM;
	}
	if (choose_ratios(t))
		return -ENOMEM;
	t->nr_counts = t->chosen.nr;
	t->only_counts = true;
	for (size_t i = 0; i < t->nr_counts; i++)
		t->only_counts &= t->chosen.at[i].of_count;
	return 0;
}

/* Pads to the column's width, with at least one blank. */
static void text_table_pad(struct buf *text, size_t from, unsigned int width)
{
	static const char blanks[] = "                                        ";
	size_t len = text->len - from;
	size_t nr = len < width ? width - len : 1;

	buf_put(text, blanks, nr < sizeof(blanks) ? nr : sizeof(blanks) - 1);
}

int text_table_end(struct text_table *t, FILE *out)
{
	if (t->text.failed)
		return -ENOMEM;
	if (t->text.len)
		fwrite_unlocked(t->text.data, 1, t->text.len, out);
	buf_clear(&t->text);
	return 0;
}

static int end_line(FILE *out, struct text_table *t)
{
	buf_put_u8(&t->text, '\n');
	return t->text.failed || t->text.len >= WRITTEN_AT_ONCE ? text_table_end(t, out)
								: 0;
}

static void text_table_put_title(struct text_table *t, const struct chosen *c,
				 bool is_last)
{
	size_t from = t->text.len;

	if (t->on_screen) {
		table_screen_title(t, c, is_last);
		return;
	}
	buf_put(&t->text, c->title, strlen(c->title));
	if (!is_last)
		text_table_pad(&t->text, from, c->width);
}

/* Appends the cells of a column without samples.  If there are several events, most lines have no
 * samples of most events. */
static void put_none(struct text_table *t, struct chosen *c,
		     const struct column_cell *cell)
{
	if (!c->none.len) {
		c->column->print(&c->none, cell);
		text_table_pad(&c->none, 0, c->width);
		t->text.failed |= c->none.failed;
	}
	buf_put(&t->text, c->none.data, c->none.len);
}

/* Escapes the blanks in a name, except in the text for an unknown source line. */
__attribute__((noinline)) static void text_table_make_word(struct buf *text,
							   size_t from)
{
	struct buf raw = { 0 };

	if (text->failed || from >= text->len)
		return;
	buf_put(&raw, text->data + from, text->len - from);
	text->len = from;
	opreport_put_word(text, (const char *)raw.data, raw.failed ? 0 : raw.len);
	text->failed |= raw.failed;
	buf_done(&raw);
}

static void put_cell(struct text_table *t, struct chosen *c,
		     const struct column_cell *cell, bool is_last)
{
	size_t from = t->text.len;

	if (t->on_screen) {
		table_screen_put(t, c, cell, is_last);
		return;
	}
	if (c->of_count && !is_last && !cell->counts[c->at]) {
		put_none(t, c, cell);
		return;
	}
	c->column->print(&t->text, cell);
	if (!c->of_count)
		screen_make_safe(&t->text, from);
	if (c->of_word)
		text_table_make_word(&t->text, from);
	if (!is_last)
		text_table_pad(&t->text, from, c->width);
}

static int text_table_write_titles(FILE *out, struct text_table *t)
{
	for (size_t i = 0; i < t->chosen.nr; i++)
		text_table_put_title(t, &t->chosen.at[i], i + 1 == t->chosen.nr);
	return end_line(out, t);
}

/* Sets the widths of the columns.  With -f (full names), the widths are those used in files. */
static int fit(struct text_table *t)
{
	t->on_screen = table_screen_wanted(t);
	if (!t->options->screen.width || t->options->long_names)
		return 0;
	return table_screen_fit(t);
}

int text_table_begin(struct text_table *t, FILE *out)
{
	size_t nr = t->lines.nr_columns;

	t->percents = calloc(3 * nr + 1, sizeof(*t->percents));
	t->sums = calloc(nr + 1, sizeof(*t->sums));
	t->last_counts = calloc(nr + 1, sizeof(*t->last_counts));
	if (!t->percents || !t->sums || !t->last_counts)
		return -ENOMEM;
	/* The address is followed by a blank, which the width includes. */
	for (size_t i = 0; t->vma_digits == WIDE_DIGITS && i < t->chosen.nr; i++) {
		if (!strcmp(t->chosen.at[i].column->name, "vma"))
			t->chosen.at[i].width = WIDE_DIGITS + 1;
	}
	for (size_t i = t->nr_counts; i < t->chosen.nr; i++) {
		struct chosen *c = &t->chosen.at[i];

		cell_cache_init(&c->cache, profile_nr_values(t->p, c->at));
	}
	if (fit(t))
		return -ENOMEM;
	if (t->options->no_header)
		return 0;
	header_write(out, t->p, &t->lines);
	return text_table_write_titles(out, t);
}

struct column_cell text_table_cell(const struct text_table *t, const struct line *line)
{
	size_t first = line->number * t->lines.nr_columns;
	const uint64_t *periods = t->lines.periods;
	const uint64_t *inclusive = t->lines.inclusive;
	const struct limits *limits = t->lines.limits;

	if (limits)
		limits += first;
	if (periods)
		periods += first;
	if (inclusive)
		inclusive += first;
	return (struct column_cell){ .profile = t->p,
				     .options = t->options,
				     .group = line->group,
				     .counts = line->counts,
				     .periods = periods,
				     .inclusive = inclusive,
				     .limits = limits,
				     .totals = t->lines.totals,
				     .sums = t->sums,
				     .percents = t->percents,
				     .sum_percents = t->percents + t->lines.nr_columns,
				     .inclusive_percents =
					     t->percents + 2 * t->lines.nr_columns,
				     .vma_digits = t->vma_digits,
				     .ratios = t->ratios.at };
}

/* Appends the text of a key's value, with its padding. */
static void text_table_put_key(struct text_table *t, struct chosen *c,
			       const struct column_cell *cell, bool is_last)
{
	uint64_t value = profile_value(t->p, cell->group, c->at);
	size_t from = t->text.len;

	if (cell_cache_put(&c->cache, value, &t->text))
		return;
	put_cell(t, c, cell, is_last);
	if (!t->text.failed)
		cell_cache_keep(&c->cache, value, t->text.data + from,
				t->text.len - from);
}

/* Appends the count columns.  They often equal those of the previous line: long reports consist
 * mostly of lines with few samples. */
static void text_table_put_counts(struct text_table *t, struct column_cell *cell)
{
	size_t bytes = t->lines.nr_columns * sizeof(*t->last_counts);
	bool may_last = t->only_counts && t->nr_counts < t->chosen.nr;
	size_t from;

	if (may_last && t->last.len && !memcmp(cell->counts, t->last_counts, bytes)) {
		buf_put(&t->text, t->last.data, t->last.len);
		return;
	}
	from = t->text.len;
	for (size_t i = 0; i < t->nr_counts; i++) {
		cell->at = t->chosen.at[i].at;
		put_cell(t, &t->chosen.at[i], cell, i + 1 == t->chosen.nr);
	}
	if (!may_last || t->text.failed)
		return;
	buf_clear(&t->last);
	buf_put(&t->last, t->text.data + from, t->text.len - from);
	memcpy(t->last_counts, cell->counts, bytes);
}

int text_table_line(struct text_table *t, FILE *out, const struct line *line)
{
	struct column_cell cell = text_table_cell(t, line);

	for (size_t i = 0; i < t->lines.nr_columns; i++)
		t->sums[i] += line->counts[i];
	text_table_put_counts(t, &cell);
	for (size_t i = t->nr_counts; i < t->chosen.nr; i++) {
		cell.at = t->chosen.at[i].at;
		text_table_put_key(t, &t->chosen.at[i], &cell, i + 1 == t->chosen.nr);
	}
	return end_line(out, t);
}

int text_table_detail(struct text_table *t, FILE *out, const struct line *line,
		      struct detail_keys keys, const uint64_t *totals,
		      const uint64_t *sums)
{
	struct column_cell cell = text_table_cell(t, line);
	/* With -g, the source line is a column after the counts. */
	size_t nr = t->nr_counts + t->options->debug_info;

	cell.totals = totals;
	cell.sums = sums;
	buf_put(&t->text, "  ", 2);
	for (size_t i = 0; i < nr; i++) {
		struct chosen *c = &t->chosen.at[i];

		cell.at = c->of_vma          ? keys.vma
			  : i < t->nr_counts ? c->at
					     : keys.source_line;
		put_cell(t, c, &cell, i + 1 == nr);
	}
	return end_line(out, t);
}

/* Writes a name in place of the keys.  It goes into the last column. */
static void put_nameless(struct text_table *t, size_t i, const char *name)
{
	size_t from = t->text.len;

	if (i + 1 == t->chosen.nr)
		buf_put(&t->text, name, strlen(name));
	else
		text_table_pad(&t->text, from, t->chosen.at[i].width);
}

int text_table_listed(struct text_table *t, FILE *out, const struct line *line,
		      const struct text_table_listed *listed)
{
	struct column_cell cell = text_table_cell(t, line);

	cell.counts = listed->counts;
	cell.periods = listed->periods;
	cell.totals = listed->totals;
	cell.sums = listed->sums;
	buf_put(&t->text, "                ", listed->indent);
	for (size_t i = 0; i < t->chosen.nr; i++) {
		struct chosen *c = &t->chosen.at[i];
		bool is_last = i + 1 == t->chosen.nr;

		cell.at = c->at;
		if (listed->name && (i >= t->nr_counts || c->of_vma))
			put_nameless(t, i, listed->name);
		else if (i >= t->nr_counts)
			text_table_put_key(t, c, &cell, is_last);
		else
			put_cell(t, c, &cell, is_last);
	}
	buf_put(&t->text, listed->marks, strlen(listed->marks));
	return end_line(out, t);
}

int text_table_text(struct text_table *t, FILE *out, const char *text)
{
	buf_put(&t->text, text, strlen(text));
	return t->text.failed                   ? -ENOMEM
	       : t->text.len >= WRITTEN_AT_ONCE ? text_table_end(t, out)
						: 0;
}

void text_table_done(struct text_table *t)
{
	lines_done(&t->lines);
	for (size_t i = 0; i < t->chosen.nr; i++) {
		cell_cache_done(&t->chosen.at[i].cache);
		buf_done(&t->chosen.at[i].none);
	}
	vec_done(&t->chosen);
	vec_done(&t->ratios);
	free(t->sums);
	free(t->percents);
	free(t->last_counts);
	buf_done(&t->last);
	buf_done(&t->text);
	buf_done(&t->raw);
	buf_done(&t->cell);
}
