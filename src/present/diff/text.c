/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - writes a comparison as a table for people. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "present/diff/diff.h"
#include "present/diff/rows.h"
#include "present/diff/text_priv.h"
#include "present/lines/elide.h"

enum {
	CELL_MAX = 64,
	IMAGE_WIDTH = 16,
	IMAGE_MAX = 24,
	SYMBOL_LEAST = 16 /* columns for a name on a narrow terminal */
};

void diff_text_sides(FILE *out, const struct diff_view *v)
{
	static const char *const names[COMPARE_SIDES] = { "base: ", "new:  " };
	const struct comparison *c = v->comparison;

	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		fprintf(out, "%s%zu run%s, %.0f samples:", names[side],
			c->nr_runs[side], c->nr_runs[side] == 1 ? "" : "s",
			c->samples[side]);
		for (size_t i = 0; i < c->runs.nr; i++) {
			if (c->runs.at[i].side != side)
				continue;
			putc(' ', out);
			screen_write_name(out,
					  strtab_get(&c->strings, c->runs.at[i].name));
		}
		putc('\n', out);
	}
	for (size_t i = 0; i < v->nr_notes; i++)
		screen_print_line(out, "note: %s", v->notes[i]);
	fprintf(out, "values: %s\n", v->unit);
}

static void text_put_titles(FILE *out, const struct diff_view *v)
{
	char interval[CELL_MAX];
	const char *more = v->by == DIFF_BY_IMAGE  ? ""
			   : v->by == DIFF_BY_LINE ? "line                 symbol"
						   : "symbol";

	snprintf(interval, sizeof(interval), "%g %% interval",
		 100 * v->comparison->options.confidence);
	fprintf(out, "%8s %8s %8s %9s %18s  %-9s  ", "base %", "new %", "change",
		"relative", interval, "verdict");
	if (*more)
		fprintf(out, "%-*s %s\n", IMAGE_WIDTH, "image", more);
	else
		fputs("image\n", out);
}

const char *diff_verdict_colour(const struct diff_view *v, enum verdict verdict)
{
	static const char *const colours[VERDICT_COUNT] = {
		[VERDICT_NOISE] = "",          [VERDICT_SLOWER] = SCREEN_RED,
		[VERDICT_NEW] = SCREEN_RED,    [VERDICT_FASTER] = SCREEN_GREEN,
		[VERDICT_GONE] = SCREEN_GREEN, [VERDICT_MOVED] = "",
		[VERDICT_TRANSIENT] = "",
	};

	return v->screen.colour ? colours[verdict] : "";
}

void diff_text_name(struct buf *out, const struct diff_view *v, const char *name,
		    size_t width, size_t most)
{
	struct buf safe = { 0 };
	size_t columns;

	buf_put(&safe, name, strlen(name));
	screen_make_safe(&safe, 0);
	columns = screen_columns((const char *)safe.data, safe.len);
	if (most && columns > most)
		columns = elide_put(out, (const char *)safe.data, safe.len, most,
				    v->screen.utf8);
	else
		buf_put(out, safe.data, safe.len);
	for (; columns < width; columns++)
		buf_put_u8(out, ' ');
	out->failed |= safe.failed;
	buf_done(&safe);
}

/* Appends the names of a row; `used` columns of the line are taken. */
static void text_put_names(struct buf *out, const struct diff_view *v,
			   const struct compare_row *row, size_t used)
{
	const unsigned int screen = v->screen.width;
	const bool last = v->by == DIFF_BY_IMAGE || row->image == DICT_NONE;
	size_t left = screen > used + SYMBOL_LEAST ? screen - used : SYMBOL_LEAST;

	diff_text_name(out, v, diff_image(v, row), last ? 0 : IMAGE_WIDTH,
		       !screen ? 0
		       : last  ? left
			       : IMAGE_MAX);
	if (last)
		return;
	left = left > IMAGE_MAX + SYMBOL_LEAST ? left - IMAGE_MAX : SYMBOL_LEAST;
	buf_put_u8(out, ' ');
	if (v->by == DIFF_BY_LINE) {
		diff_text_name(out, v, diff_line(v, row), 20, 0);
		buf_put_u8(out, ' ');
	}
	diff_text_name(out, v, diff_symbol(v, row), 0, screen ? left : 0);
}

static int text_put_row(FILE *out, const struct diff_view *v,
			const struct compare_row *row)
{
	char relative[DIFF_RELATIVE_MAX], interval[CELL_MAX];
	const char *colour = diff_verdict_colour(v, row->verdict);
	struct buf names = { 0 };
	int used;

	diff_format_relative(row, relative);
	snprintf(interval, sizeof(interval), "%+.2f .. %+.2f", row->interval.low,
		 row->interval.high);
	used = fprintf(out, "%8.2f %8.2f %+8.2f %9s %18s  ", row->value[SIDE_BASE],
		       row->value[SIDE_NEW], row->change, relative, interval);
	fprintf(out, "%s%-9s%s  ", colour, verdict_name(row->verdict),
		*colour ? SCREEN_PLAIN : "");
	text_put_names(&names, v, row, used < 0 ? 0 : (size_t)used + 11);
	if (!names.failed) {
		fwrite(names.data, 1, names.len, out);
		putc('\n', out);
	}
	buf_done(&names);
	return names.failed ? -ENOMEM : 0;
}

int diff_text_moves(FILE *out, const struct diff_view *v)
{
	struct buf text = { 0 };
	bool failed;

	for (size_t i = 0; i < v->comparison->moves.nr; i++) {
		buf_put(&text, "moved: ", 7);
		diff_put_move(&text, v, i);
		buf_put_u8(&text, '\n');
	}
	failed = text.failed;
	if (!failed && text.len)
		fwrite(text.data, 1, text.len, out);
	buf_done(&text);
	return failed ? -ENOMEM : 0;
}

void diff_text_summary(FILE *out, const struct diff_view *v, size_t nr_hidden,
		       const char *hidden)
{
	const struct diff_summary s = diff_summary(v);
	const struct comparison *c = v->comparison;

	fprintf(out, "%zu of %zu tested rows changed (false-discovery rate %g %%)",
		diff_nr_changed(&s), c->nr_tested, 100 * c->options.discovery);
	if (nr_hidden)
		fprintf(out, "; %zu %s below %g %% are not shown", nr_hidden, hidden,
			v->threshold);
	putc('\n', out);
}

int write_diff_text(FILE *out, const struct diff_view *v)
{
	const struct comparison *c = v->comparison;
	int r = 0;

	if (!v->no_header) {
		diff_text_sides(out, v);
		text_put_titles(out, v);
	}
	if (c->options.is_rate)
		r = text_put_row(out, v, &c->total);
	for (size_t i = 0; !r && i < c->rows.nr; i++) {
		if (diff_shows(v, &c->rows.at[i]))
			r = text_put_row(out, v, &c->rows.at[i]);
	}
	if (!r && !v->no_header) {
		r = diff_text_moves(out, v);
		diff_text_summary(out, v, c->rows.nr - diff_summary(v).nr_shown,
				  "unchanged rows");
	}
	return r;
}
