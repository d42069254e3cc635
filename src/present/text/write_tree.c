/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_tree.c - writes --tree as text: counts, and functions below their callers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/call_sums.h"
#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "base/files/path.h"
#include "base/safe_text.h"
#include "present/lines/branches.h"
#include "present/lines/call_focus.h"
#include "present/lines/elide.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "present/text/header.h"
#include "present/text/text_writers.h"
#include "present/text/tree_lines.h"

enum {
	COUNT_WIDTH = 9,
	LEAST_NAME = 16, /* minimum columns of a name */
	WRITTEN_AT_ONCE = 1 << 16
};

struct write_tree_writing {
	struct profile *p;
	const struct present_options *options;
	FILE *out;
	struct report_lines lines; /* only its columns and totals */
	struct call_sums sums;
	struct branches branches;
	enum tree_part part;
	struct buf text;
	struct buf raw;
	struct buf safe;
};

static void write_tree_put(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

static void write_tree_pad(struct write_tree_writing *w, size_t from, size_t width)
{
	do
		buf_put_u8(&w->text, ' ');
	while (w->text.len - from < width);
}

static void write_tree_put_share(struct write_tree_writing *w, uint64_t part,
				 uint64_t whole)
{
	double percent = percent_of(part, whole);
	const char *colour = screen_share_colour(&w->options->screen, percent);
	char text[PERCENT_MAX];
	size_t len;

	percent_format(percent, text);
	write_tree_put(&w->text, colour);
	write_tree_put(&w->text, text);
	if (*colour)
		write_tree_put(&w->text, SCREEN_PLAIN);
	len = strlen(text);
	write_tree_pad(w, w->text.len - len, COUNT_WIDTH);
}

static void put_blank(struct write_tree_writing *w, size_t width)
{
	write_tree_pad(w, w->text.len, width);
}

/* Writes samples and their percentage for each column of counts, and towards callees the self
 * percentage.  In a chain, the first two equal those of the line above and are left blank. */
static void write_tree_put_counts(struct write_tree_writing *w,
				  const struct tree_line *line)
{
	for (size_t c = 0; c < w->lines.nr_columns; c++) {
		size_t from = w->text.len;

		if (line->chained) {
			put_blank(w, 2 * COUNT_WIDTH);
		} else {
			buf_put_decimal(&w->text, line->samples[c]);
			write_tree_pad(w, from, COUNT_WIDTH);
			write_tree_put_share(w, line->samples[c], w->lines.totals[c]);
		}
		if (line->part != TREE_CALLEES)
			continue;
		if (line->chained && !line->self[c])
			put_blank(w, COUNT_WIDTH);
		else
			write_tree_put_share(w, line->self[c], w->lines.totals[c]);
	}
}

static size_t counts_width(const struct write_tree_writing *w, enum tree_part part)
{
	return w->lines.nr_columns * COUNT_WIDTH * (part == TREE_CALLEES ? 3 : 2);
}

static void write_tree_put_image(struct write_tree_writing *w, uint32_t function)
{
	const struct profile *p = w->p;
	const char *name = strtab_get(
		&p->strings, p->images.at[p->functions.at[function].image].name);

	write_tree_put(&w->raw, w->options->long_names ? name : path_base(name));
}

/* Makes the name of a line: that of its function, followed by the image if it differs from that of
 * the line above. */
static void write_tree_make_name(struct write_tree_writing *w,
				 const struct tree_line *line)
{
	struct profile *p = w->p;
	const struct profile_function *f;
	const char *name;

	buf_clear(&w->raw);
	if (line->function == DICT_NONE) {
		write_tree_put(&w->raw, "[truncated]");
		return;
	}
	f = &p->functions.at[line->function];
	if (f->kind == FUNCTION_OF_IMAGE || f->kind == FUNCTION_BETWEEN) {
		buf_put_u8(&w->raw, '[');
		write_tree_put_image(w, line->function);
		buf_put_u8(&w->raw, ']');
		return;
	}
	name = profile_function_name(p, line->function);
	write_tree_put(&w->raw, name ? name : "");
	if (line->above != DICT_NONE && p->functions.at[line->above].image == f->image)
		return;
	write_tree_put(&w->raw, "  ");
	write_tree_put_image(w, line->function);
}

static void write_tree_put_name(struct write_tree_writing *w,
				const struct tree_line *line)
{
	const struct screen *s = &w->options->screen;
	size_t used = counts_width(w, line->part) + 2 * (size_t)line->level;
	size_t most = SIZE_MAX;

	write_tree_make_name(w, line);
	if (!s->is_terminal) {
		screen_make_safe(&w->raw, 0);
		buf_put(&w->text, w->raw.data, w->raw.len);
		return;
	}
	if (s->width && !w->options->long_names)
		most = s->width > used + LEAST_NAME ? s->width - used : LEAST_NAME;
	buf_clear(&w->safe);
	safe_text_put(&w->safe, (const char *)w->raw.data, w->raw.len, s->utf8);
	elide_put(&w->text, (const char *)w->safe.data, w->safe.len, most, s->utf8);
}

static int write_tree_flush(struct write_tree_writing *w, size_t more_than)
{
	if (w->text.failed || w->raw.failed || w->safe.failed)
		return -ENOMEM;
	if (w->text.len > more_than) {
		fwrite(w->text.data, 1, w->text.len, w->out);
		buf_clear(&w->text);
	}
	return 0;
}

static int write_tree_put_line(void *ctx, const struct tree_line *line)
{
	struct write_tree_writing *w = ctx;
	const struct branch_row row = { line->level, line->chained, line->is_last };

	write_tree_put_counts(w, line);
	if (branches_put(&w->branches, &w->text, &row, &w->options->screen))
		return -ENOMEM;
	write_tree_put_name(w, line);
	buf_put_u8(&w->text, '\n');
	return write_tree_flush(w, WRITTEN_AT_ONCE);
}

static void write_tree_put_title(struct write_tree_writing *w, const char *title)
{
	bool bold = w->options->screen.colour;
	size_t len = strlen(title);

	if (bold)
		write_tree_put(&w->text, SCREEN_BOLD);
	write_tree_put(&w->text, title);
	if (bold)
		write_tree_put(&w->text, SCREEN_PLAIN);
	write_tree_pad(w, w->text.len - len, COUNT_WIDTH);
}

static void put_titles(struct write_tree_writing *w, enum tree_part part)
{
	const char *last = !w->options->focus     ? "symbol name"
			   : part == TREE_CALLEES ? "symbol name, and what it called"
						  : "symbol name, and what called it";

	for (size_t c = 0; c < w->lines.nr_columns; c++) {
		write_tree_put_title(
			w, lines_has_values(&w->lines, w->p, c) ? "period" : "samples");
		write_tree_put_title(w, "%");
		if (part == TREE_CALLEES)
			write_tree_put_title(w, "self %");
	}
	write_tree_put_title(w, last);
	while (w->text.len && w->text.data[w->text.len - 1] == ' ')
		w->text.len--;
	buf_put_u8(&w->text, '\n');
}

static int write_tree_put_part(struct write_tree_writing *w, enum tree_part part,
			       const uint8_t *focus)
{
	const struct tree_how how = { .sums = &w->sums,
				      .part = part,
				      .focus = focus,
				      .total = w->lines.totals[0],
				      .threshold = w->options->threshold,
				      .chains = true,
				      .put = write_tree_put_line,
				      .ctx = w };

	if (!w->options->no_header)
		put_titles(w, part);
	return tree_lines_put(w->p, &how);
}

/* Writes the tree of callers, the tree of callees or, for a focused function, both, as the options
 * request. */
static int put_parts(struct write_tree_writing *w, const uint8_t *focus)
{
	bool both = focus && w->options->both_parts;
	int r;

	if (!w->options->no_header)
		header_write(w->out, w->p, &w->lines);
	r = w->options->callers || both ? write_tree_put_part(w, TREE_CALLERS, focus)
					: 0;
	if (!r && both && !w->options->no_header)
		buf_put_u8(&w->text, '\n');
	if (!r && (!w->options->callers || both))
		r = write_tree_put_part(w, TREE_CALLEES, focus);
	return r ? r : write_tree_flush(w, 0);
}

static int write_tree_prepare(struct write_tree_writing *w, struct err *err)
{
	uint32_t *column_of = NULL;
	int r = classes_of_profile(&w->lines.classes, w->options->kept, w->p,
				   &column_of, err);

	if (r)
		return r;
	w->lines.nr_columns = w->lines.classes.columns.nr;
	w->lines.totals = calloc(w->lines.nr_columns + 1, sizeof(*w->lines.totals));
	if (!w->lines.totals ||
	    call_sums_make(&w->sums, w->p, column_of, w->lines.nr_columns)) {
		free(column_of);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < w->p->rows.nr; i++)
		w->lines.totals[column_of[i]] += w->p->rows.at[i].samples;
	free(column_of);
	return 0;
}

int write_tree(FILE *out, struct profile *p, const struct present_options *options,
	       struct err *err)
{
	struct write_tree_writing w = { .p = p, .options = options, .out = out };
	uint8_t *focus = NULL;
	int r = write_tree_prepare(&w, err);

	if (!r && options->focus)
		r = call_focus_find(p, options->focus, &focus, err);
	if (!r && put_parts(&w, focus))
		r = err_set(err, -ENOMEM, "out of memory");
	free(focus);
	branches_done(&w.branches);
	call_sums_done(&w.sums);
	lines_done(&w.lines);
	buf_done(&w.text);
	buf_done(&w.raw);
	buf_done(&w.safe);
	return r;
}
