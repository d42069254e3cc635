/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/diff/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "present/diff/diff.h"

enum {
	MOVE_MAX = 96
};

bool diff_shows(const struct diff_view *v, const struct compare_row *row)
{
	return row->verdict != VERDICT_NOISE ||
	       fmax(row->value[SIDE_BASE], row->value[SIDE_NEW]) >= v->threshold;
}

static const char *diff_text_of(const struct diff_view *v, uint32_t number)
{
	return strtab_get(&v->comparison->strings, number);
}

const char *diff_image(const struct diff_view *v, const struct compare_row *row)
{
	const struct compare_image *image;
	const char *name, *slash;

	if (row->image == DICT_NONE)
		return "(total)";
	image = &v->comparison->images.at[row->image];
	name = diff_text_of(v, image->names[SIDE_NEW] ? image->names[SIDE_NEW]
						      : image->names[SIDE_BASE]);
	slash = strrchr(name, '/');
	return slash && slash[1] && !v->long_names ? slash + 1 : name;
}

const char *diff_symbol(const struct diff_view *v, const struct compare_row *row)
{
	return diff_text_of(v, row->name);
}

const char *diff_line(const struct diff_view *v, const struct compare_row *row)
{
	return diff_text_of(v, row->line);
}

double diff_relative(const struct compare_row *row)
{
	return row->value[SIDE_BASE] > 0 ? 100 * row->change / row->value[SIDE_BASE]
					 : INFINITY;
}

void diff_format_relative(const struct compare_row *row,
			  char ret_text[DIFF_RELATIVE_MAX])
{
	const double relative = diff_relative(row);

	if (isinf(relative))
		snprintf(ret_text, DIFF_RELATIVE_MAX, "-");
	else
		snprintf(ret_text, DIFF_RELATIVE_MAX, "%+.1f%%", relative);
}

/* Returns the name of a row for the line about moved code. If several nodes of a tree share the
 * row, it is the name of the outermost one. */
static const char *moved_name(const struct diff_view *v, const struct compare_row *row)
{
	if (v->by == DIFF_BY_IMAGE)
		return diff_image(v, row);
	return row->node == DICT_NONE
		       ? diff_symbol(v, row)
		       : diff_text_of(v, v->comparison->nodes.at[row->node].name);
}

/* Appends the names of the rows of a group that lost samples or, if requested, of those that
 * gained. */
static void put_moved_names(struct buf *out, const struct diff_view *v, size_t move,
			    bool gained)
{
	bool first = true;

	for (size_t i = 0; i < v->comparison->rows.nr; i++) {
		const struct compare_row *row = &v->comparison->rows.at[i];
		const char *name = moved_name(v, row);
		size_t from;

		if (row->move != move || (row->change > 0) != gained)
			continue;
		if (!first)
			buf_put(out, ", ", 2);
		first = false;
		from = out->len;
		buf_put(out, name, strlen(name));
		screen_make_safe(out, from);
	}
}

void diff_put_move(struct buf *out, const struct diff_view *v, size_t move)
{
	const struct compare_move *m = &v->comparison->moves.at[move];
	char text[MOVE_MAX];
	int len =
		snprintf(text, sizeof(text), ": together %+.2f points (%+.2f .. %+.2f)",
			 m->change, m->interval.low, m->interval.high);

	put_moved_names(out, v, move, false);
	buf_put(out, " -> ", 4);
	put_moved_names(out, v, move, true);
	buf_put(out, text, (size_t)len);
}

struct diff_summary diff_summary(const struct diff_view *v)
{
	struct diff_summary s = { 0 };

	for (size_t i = 0; i < v->comparison->rows.nr; i++) {
		const struct compare_row *row = &v->comparison->rows.at[i];

		s.nr_shown += diff_shows(v, row);
		s.nr_verdicts[row->verdict]++;
	}
	return s;
}

size_t diff_nr_changed(const struct diff_summary *s)
{
	size_t nr = 0;

	for (size_t i = 0; i < VERDICT_COUNT; i++)
		nr += i == VERDICT_NOISE ? 0 : s->nr_verdicts[i];
	return nr;
}
