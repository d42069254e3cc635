/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_calls.c - writes OProfile's --callgraph: each function between its callers and its
 * callees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/calls/links.h"
#include "present/calls/write_calls.h"
#include "present/lines/call_focus.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/text/symbol_table.h"

enum {
	MARKS_MAX = 32, /* room for "[self]" and a number */
	MARKS_COLUMNS = 10
};

static const char rule[] =
	"-------------------------------------------------------------------------------\n";

struct calls {
	struct text_table table;
	struct symbol_keys keys;
	struct call_links links;
	uint32_t *position_of; /* by line number: index among the table's lines */
	uint32_t *number_of;   /* by position: number in brackets; 0: not shown */
	uint8_t *focus;        /* by function; NULL: all are shown */
	uint64_t *totals;      /* by column, of a list */
	uint64_t *sums;        /* by column, cumulative */
};

/* ---- selection ---- */

/* Makes the links.  The column of each row is not stored in the lines, so it is computed again
 * here. */
static int write_calls_make_links(struct calls *c, const struct profile *p,
				  struct err *err)
{
	const struct report_lines *lines = &c->table.lines;
	struct call_lines how = { .nr_lines = lines->all.nr,
				  .nr_columns = lines->nr_columns };
	uint32_t *line_of = malloc((p->rows.nr + 1) * sizeof(*line_of));
	uint64_t *vma_of = malloc((lines->all.nr + 1) * sizeof(*vma_of));
	uint32_t *column_of = NULL;
	struct classes classes;
	int r = classes_of_profile(&classes, c->table.options->kept, p, &column_of,
				   err);

	how.column_of = column_of;
	how.line_of = line_of;
	how.vma_of = vma_of;
	for (size_t i = 0; vma_of && i < lines->all.nr; i++)
		vma_of[i] = p->functions
				    .at[profile_value(p, lines->all.at[i].group,
						      c->keys.symbol)]
				    .vma;
	for (size_t i = 0; line_of && i < p->rows.nr; i++)
		line_of[i] = c->position_of[lines_number(lines, p->rows.at[i].group)];
	if (!r && (!line_of || !vma_of || call_links_make(&c->links, p, &how)))
		r = err_set(err, -ENOMEM, "out of memory");
	classes_done(&classes);
	free(column_of);
	free(line_of);
	free(vma_of);
	return r;
}

static bool write_calls_is_shown(const struct calls *c, const struct line *line)
{
	const struct text_table *t = &c->table;
	uint64_t function = profile_value(t->p, line->group, c->keys.symbol);

	if (c->focus && !c->focus[function])
		return false;
	return percent_reached(line->counts, t->lines.totals, t->lines.nr_columns,
			       t->options->threshold);
}

/* Sets the position of each line, and the numbers of the shown lines. */
static int number_lines(struct calls *c)
{
	const struct report_lines *lines = &c->table.lines;
	size_t nr = lines->all.nr;
	uint32_t nr_shown = 0;

	c->position_of = calloc(nr + 1, sizeof(*c->position_of));
	c->number_of = calloc(nr + 1, sizeof(*c->number_of));
	c->totals = calloc(lines->nr_columns + 1, sizeof(*c->totals));
	c->sums = calloc(lines->nr_columns + 1, sizeof(*c->sums));
	if (!c->position_of || !c->number_of || !c->totals || !c->sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		c->position_of[lines->all.at[i].number] = i;
		if (write_calls_is_shown(c, &lines->all.at[i]))
			c->number_of[i] = ++nr_shown;
	}
	return 0;
}

/* ---- lists ---- */

static void write_calls_put_marks(const struct calls *c, uint32_t position,
				  bool is_self, char text[MARKS_MAX])
{
	uint32_t number = 0;
	int len = 0;

	if (c->table.options->numbered && position != CALL_BY_UNKNOWN)
		number = c->number_of[position];
	*text = '\0';
	if (number)
		len = snprintf(text, MARKS_MAX, " [%u]", number);
	if (is_self)
		snprintf(text + len, MARKS_MAX - (size_t)len, " [self]");
}

/* Writes a line of a list unless it is below the threshold.  The cumulative sums include omitted
 * lines. */
static int put_listed(struct calls *c, FILE *out, uint32_t position,
		      const uint64_t *counts, const uint64_t *periods, bool is_self)
{
	struct text_table *t = &c->table;
	bool is_known = position != CALL_BY_UNKNOWN;
	char marks[MARKS_MAX];
	struct text_table_listed listed = { .name = is_known ? NULL : "[truncated]",
					    .marks = marks,
					    .indent = 2,
					    .counts = counts,
					    .periods = periods,
					    .totals = c->totals,
					    .sums = c->sums };

	for (size_t i = 0; i < t->lines.nr_columns; i++)
		c->sums[i] += counts[i];
	if (!percent_reached(counts, c->totals, t->lines.nr_columns,
			     t->options->threshold))
		return 0;
	write_calls_put_marks(c, position, is_self, marks);
	return text_table_listed(t, out, &t->lines.all.at[is_known ? position : 0],
				 &listed);
}

static int write_calls_put_links(struct calls *c, FILE *out, const uint32_t *numbers,
				 size_t nr, bool to_callees)
{
	size_t width = c->links.nr_columns;
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++) {
		const struct call_link *link = &c->links.all.at[numbers[i]];
		size_t at = numbers[i] * width;

		r = put_listed(c, out, to_callees ? link->callee : link->caller,
			       &c->links.counts[at], &c->links.periods[at], false);
	}
	return r;
}

/* Sets the totals that a list's percentages refer to: the sum of the list, with `own` added unless
 * it is NULL; with --global-percent, all samples. */
static void begin_list(struct calls *c, const uint32_t *numbers, size_t nr,
		       const uint64_t *own)
{
	const struct text_table *t = &c->table;

	for (size_t k = 0; k < t->lines.nr_columns; k++) {
		c->sums[k] = 0;
		c->totals[k] = own ? own[k] : 0;
		for (size_t i = 0; i < nr; i++)
			c->totals[k] +=
				c->links.counts[numbers[i] * c->links.nr_columns + k];
		if (t->options->global_percent)
			c->totals[k] = t->lines.totals[k];
	}
}

static bool write_calls_is_empty(const struct calls *c, const struct line *line)
{
	for (size_t k = 0; k < c->table.lines.nr_columns; k++)
		if (line->counts[k])
			return false;
	return true;
}

/* Writes the callees of a function. Its own samples are a line among them, in the same order. */
static int put_callees(struct calls *c, FILE *out, uint32_t position)
{
	const struct text_table *t = &c->table;
	const struct line *line = &t->lines.all.at[position];
	const uint32_t *numbers = c->links.callees + c->links.callees_from[position];
	size_t nr =
		c->links.callees_from[position + 1] - c->links.callees_from[position];
	bool self = !t->options->no_empty_self || !write_calls_is_empty(c, line);
	const uint64_t *periods =
		t->lines.periods ? t->lines.periods + line->number * t->lines.nr_columns
				 : NULL;
	size_t before = 0;
	int r;

	begin_list(c, numbers, nr, line->counts);
	while (before < nr && c->links.counts[numbers[before] * c->links.nr_columns] >=
				      line->counts[0])
		before++;
	r = write_calls_put_links(c, out, numbers, before, true);
	if (!r && self)
		r = put_listed(c, out, position, line->counts, periods, true);
	return r ? r
		 : write_calls_put_links(c, out, numbers + before, nr - before, true);
}

static int put_callers(struct calls *c, FILE *out, uint32_t position)
{
	const uint32_t *numbers = c->links.callers + c->links.callers_from[position];
	size_t nr =
		c->links.callers_from[position + 1] - c->links.callers_from[position];

	begin_list(c, numbers, nr, NULL);
	return write_calls_put_links(c, out, numbers, nr, false);
}

static int put_block(struct calls *c, FILE *out, uint32_t position)
{
	struct text_table *t = &c->table;
	const struct line *line = &t->lines.all.at[position];
	const uint64_t *periods =
		t->lines.periods ? t->lines.periods + line->number * t->lines.nr_columns
				 : NULL;
	char marks[MARKS_MAX];
	struct text_table_listed focus = { .marks = marks,
					   .counts = line->counts,
					   .periods = periods,
					   .totals = t->lines.totals,
					   .sums = t->sums };
	int r = put_callers(c, out, position);

	write_calls_put_marks(c, position, false, marks);
	for (size_t k = 0; k < t->lines.nr_columns; k++)
		t->sums[k] += line->counts[k];
	if (!r)
		r = text_table_listed(t, out, line, &focus);
	if (!r)
		r = put_callees(c, out, position);
	return r ? r : text_table_text(t, out, rule);
}

static int write_calls_write_all(struct calls *c, FILE *out)
{
	struct text_table *t = &c->table;
	int r = symbol_table_choose(t, &c->keys);

	if (!r)
		r = text_table_begin(t, out);
	if (!r)
		r = text_table_text(t, out, rule);
	for (uint32_t i = 0; !r && i < t->lines.all.nr; i++)
		if (c->number_of[i])
			r = put_block(c, out, i);
	return r ? r : text_table_end(t, out);
}

static void calls_done(struct calls *c)
{
	call_links_done(&c->links);
	text_table_done(&c->table);
	free(c->position_of);
	free(c->number_of);
	free(c->focus);
	free(c->totals);
	free(c->sums);
}

int write_calls(FILE *out, struct profile *p, const struct present_options *options,
		struct err *err)
{
	/* Keep the lines below the threshold, because each can appear in another function's list.
	 * Reduce the width by the lists' indentation. */
	struct present_options all = *options;
	struct calls c = { .table = { .p = p, .options = &all } };
	int r;

	all.threshold = 0;
	if (all.screen.width > 4 * MARKS_COLUMNS)
		all.screen.width -= MARKS_COLUMNS;
	if (symbol_table_keys(p, options, &c.keys))
		return err_set(err, -EINVAL,
			       "internal error: the profile lacks keys of this report");
	r = options->focus ? call_focus_find(p, options->focus, &c.focus, err) : 0;
	if (!r)
		r = lines_of_groups(p, &all, LINES_BY_FUNCTION,
				    CLASS_KEYS | 1u << KEY_FUNCTION_LINE,
				    &c.table.lines, err);
	all.threshold = options->threshold;
	if (!r && number_lines(&c))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r)
		r = write_calls_make_links(&c, p, err);
	if (!r && write_calls_write_all(&c, out))
		r = err_set(err, -ENOMEM, "out of memory");
	calls_done(&c);
	return r;
}
