/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_text.c - writes the changes in a series of recordings as a table for people. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "compare/history.h"
#include "present/diff/history.h"
#include "present/diff/rows.h"

enum {
	DATE_MAX = 32,
	RUN_LEAST = 10, /* columns of the name of a recording */
	RUN_MOST = 32,
	HISTORY_IMAGE_WIDTH = 16
};

const char *history_run_name(const struct history_view *v, size_t run)
{
	const struct comparison *c = v->diff.comparison;
	const char *name = strtab_get(&c->strings, c->runs.at[run].name);
	const char *slash = strrchr(name, '/');

	return slash && slash[1] ? slash + 1 : name;
}

double history_relative(const struct history_change *change)
{
	return change->before > 0
		       ? 100 * (change->after - change->before) / change->before
		       : INFINITY;
}

static void format_date(uint64_t ns, char text[DATE_MAX])
{
	const time_t seconds = clock_timespec(ns).tv_sec;
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, DATE_MAX, "%F %R", &tm))
		snprintf(text, DATE_MAX, "?");
}

static void history_put_head(FILE *out, const struct history_view *v)
{
	const struct comparison *c = v->diff.comparison;
	char first[DATE_MAX], last[DATE_MAX];
	double samples = 0;

	for (size_t i = 0; i < c->runs.nr; i++)
		samples += c->runs.at[i].samples;
	format_date(c->runs.at[0].facts.start_ns, first);
	format_date(c->runs.at[c->runs.nr - 1].facts.start_ns, last);
	fprintf(out, "%zu recordings from %s to %s UTC, %.0f samples\n", c->runs.nr,
		first, last, samples);
	for (size_t i = 0; i < v->diff.nr_notes; i++)
		screen_print_line(out, "note: %s", v->diff.notes[i]);
	fprintf(out, "values: %s\n", v->diff.unit);
}

/* Appends a name, escaped, in at least `width` columns.  Of a name with more than `most` columns,
 * unless that is 0, only the end is left, where names of recordings differ. */
static void history_put_name(struct buf *out, const char *name, size_t width,
			     size_t most)
{
	struct buf safe = { 0 };
	size_t columns, skip = 0;

	buf_put(&safe, name, strlen(name));
	screen_make_safe(&safe, 0);
	columns = screen_columns((const char *)safe.data, safe.len);
	if (most && columns > most && safe.len > most) {
		skip = safe.len - most + 2;
		while (skip < safe.len && (safe.data[skip] & 0xc0) == 0x80)
			skip++;
		buf_put(out, "..", 2);
		columns = 2 + screen_columns((const char *)safe.data + skip,
					     safe.len - skip);
	}
	if (safe.len)
		buf_put(out, safe.data + skip, safe.len - skip);
	for (; columns < width; columns++)
		buf_put_u8(out, ' ');
	out->failed |= safe.failed;
	buf_done(&safe);
}

/* Returns the width of the columns with names of recordings. */
static size_t run_width(const struct history_view *v)
{
	size_t width = RUN_LEAST;

	for (size_t i = 0; i < v->history->nr_runs; i++) {
		const char *name = history_run_name(v, i);
		const size_t columns = screen_columns(name, strlen(name));

		width = columns > width ? columns : width;
	}
	return width < RUN_MOST ? width : RUN_MOST;
}

static void history_put_row(struct buf *out, const struct history_view *v,
			    const struct history_change *change, size_t width)
{
	const struct compare_row *row = &v->diff.comparison->rows.at[change->row];
	const bool last = v->diff.by == DIFF_BY_IMAGE || row->image == DICT_NONE;
	const double difference = change->after - change->before;
	const bool plain = !v->diff.screen.colour || change->verdict == VERDICT_MOVED;
	const char *colour = plain ? "" : difference > 0 ? SCREEN_RED : SCREEN_GREEN;
	const double relative = history_relative(change);
	char numbers[128], percent[DIFF_RELATIVE_MAX] = "-";

	if (isfinite(relative))
		snprintf(percent, sizeof(percent), "%+.1f%%", relative);
	snprintf(numbers, sizeof(numbers), "%8.2f %8.2f %+8.2f %9s %8.2g  %s%-7s%s  ",
		 change->before, change->after, difference, percent, change->q, colour,
		 verdict_name(change->verdict), *colour ? SCREEN_PLAIN : "");
	buf_put(out, numbers, strlen(numbers));
	history_put_name(out, history_run_name(v, change->at - 1), width, width);
	buf_put(out, "  ", 2);
	history_put_name(out, history_run_name(v, change->at), width, width);
	buf_put(out, "  ", 2);
	history_put_name(out, diff_image(&v->diff, row), last ? 0 : HISTORY_IMAGE_WIDTH,
			 0);
	if (!last && v->diff.by == DIFF_BY_LINE) {
		buf_put_u8(out, ' ');
		history_put_name(out, diff_line(&v->diff, row), 20, 0);
	}
	if (!last) {
		buf_put_u8(out, ' ');
		history_put_name(out, diff_symbol(&v->diff, row), 0, 0);
	}
	buf_put_u8(out, '\n');
}

static void history_put_titles(FILE *out, const struct history_view *v, size_t width)
{
	fprintf(out, "%8s %8s %8s %9s %8s  %-7s  %-*s  %-*s  ", "base %", "new %",
		"change", "relative", "q", "verdict", (int)width, "before", (int)width,
		"after");
	if (v->diff.by == DIFF_BY_IMAGE)
		fputs("image\n", out);
	else
		fprintf(out, "%-*s %s\n", HISTORY_IMAGE_WIDTH, "image",
			v->diff.by == DIFF_BY_LINE ? "line                 symbol"
						   : "symbol");
}

int write_history_text(FILE *out, const struct history_view *v)
{
	const struct history *h = v->history;
	const size_t width = run_width(v);
	struct buf rows = { 0 };
	bool failed;

	for (size_t i = 0; i < h->changes.nr; i++)
		history_put_row(&rows, v, &h->changes.at[i], width);
	failed = rows.failed;
	if (!v->diff.no_header)
		history_put_head(out, v);
	if (!v->diff.no_header && h->changes.nr)
		history_put_titles(out, v, width);
	if (!failed && rows.len)
		fwrite(rows.data, 1, rows.len, out);
	buf_done(&rows);
	if (!v->diff.no_header)
		fprintf(out,
			"%zu change%s in %zu tested rows (false-discovery rate %g %%)\n",
			h->changes.nr, h->changes.nr == 1 ? "" : "s", h->nr_tested,
			100 * v->diff.comparison->options.discovery);
	return failed ? -ENOMEM : 0;
}
