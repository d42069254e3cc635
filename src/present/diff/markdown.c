/* SPDX-License-Identifier: GPL-2.0-or-later */
/* markdown.c - writes a comparison for a pull request: CommonMark with a table of changed rows
 * (GitHub Flavored Markdown). */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "present/diff/diff.h"
#include "present/diff/rows.h"

enum {
	MARKDOWN_ROWS = 30
};

static void markdown_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

/* Returns the length of the longest sequence of backquotes in a text. */
static size_t longest_ticks(const char *text)
{
	size_t most = 0;

	while (*text) {
		size_t nr = strspn(text, "`");

		most = nr > most ? nr : most;
		text += nr ? nr : 1;
	}
	return most;
}

/* Appends a name as a code span of a table's cell.  Inside a code span, only backquotes and the
 * bars that end a cell are special. */
static void markdown_code(struct buf *out, const char *name)
{
	struct buf safe = { 0 };
	size_t nr_ticks;

	buf_put(&safe, name, strlen(name));
	screen_make_safe(&safe, 0);
	buf_put_u8(&safe, '\0');
	out->failed |= safe.failed;
	if (safe.failed || safe.len == 1) {
		buf_done(&safe);
		return;
	}
	nr_ticks = longest_ticks((const char *)safe.data) + 1;
	for (size_t i = 0; i < nr_ticks; i++)
		buf_put_u8(out, '`');
	if (nr_ticks > 1)
		buf_put_u8(out, ' ');
	for (size_t i = 0; i + 1 < safe.len; i++) {
		if (safe.data[i] == '|')
			buf_put_u8(out, '\\');
		buf_put_u8(out, safe.data[i]);
	}
	if (nr_ticks > 1)
		buf_put_u8(out, ' ');
	for (size_t i = 0; i < nr_ticks; i++)
		buf_put_u8(out, '`');
	buf_done(&safe);
}

static void markdown_put_text(FILE *out, const struct buf *text)
{
	if (!text->failed && text->len)
		fwrite(text->data, 1, text->len, out);
}

static int markdown_row(FILE *out, const struct diff_view *v,
			const struct compare_row *row)
{
	char relative[DIFF_RELATIVE_MAX];
	struct buf names = { 0 };
	const bool bold = row->verdict == VERDICT_SLOWER || row->verdict == VERDICT_NEW;
	const char *mark = bold ? "**" : "";

	diff_format_relative(row, relative);
	fprintf(out, "| %s%s%s | ", mark, verdict_name(row->verdict), mark);
	if (v->by == DIFF_BY_IMAGE || row->image == DICT_NONE) {
		markdown_code(&names, diff_image(v, row));
	} else {
		markdown_code(&names, diff_symbol(v, row));
		if (v->by == DIFF_BY_LINE) {
			markdown_text(&names, " ");
			markdown_code(&names, diff_line(v, row));
		}
		markdown_text(&names, " in ");
		markdown_code(&names, diff_image(v, row));
	}
	markdown_put_text(out, &names);
	fprintf(out, " | %.2f | %.2f | %+.2f | %s | %+.2f .. %+.2f |\n",
		row->value[SIDE_BASE], row->value[SIDE_NEW], row->change, relative,
		row->interval.low, row->interval.high);
	buf_done(&names);
	return names.failed ? -ENOMEM : 0;
}

static void markdown_titles(FILE *out, const struct diff_view *v)
{
	static const char *const names[] = { [DIFF_BY_SYMBOL] = "function",
					     [DIFF_BY_IMAGE] = "binary",
					     [DIFF_BY_LINE] = "source line",
					     [DIFF_BY_STACK] = "stack" };

	fprintf(out,
		"\n| verdict | %s | base %% | new %% | change | relative | %g %% interval |\n"
		"|:---|:---|---:|---:|---:|---:|---:|\n",
		names[v->by], 100 * v->comparison->options.confidence);
}

static int markdown_table(FILE *out, const struct diff_view *v, size_t *ret_nr)
{
	const struct comparison *c = v->comparison;
	size_t nr = 0;
	int r = 0;

	markdown_titles(out, v);
	if (c->options.is_rate)
		r = markdown_row(out, v, &c->total);
	for (size_t i = 0; !r && i < c->rows.nr && nr < MARKDOWN_ROWS; i++) {
		if (c->rows.at[i].verdict == VERDICT_NOISE)
			continue;
		r = markdown_row(out, v, &c->rows.at[i]);
		nr++;
	}
	*ret_nr = nr;
	return r;
}

/* Writes the notes.  Names in a note become code spans, so that they are not interpreted as
 * Markdown. */
static int markdown_notes(FILE *out, const struct diff_view *v)
{
	struct buf text = { 0 };
	bool failed;

	for (size_t i = 0; i < v->nr_notes; i++) {
		markdown_text(&text, i ? "- " : "\n- ");
		markdown_code(&text, v->notes[i]);
		markdown_text(&text, "\n");
	}
	markdown_put_text(out, &text);
	failed = text.failed;
	buf_done(&text);
	return failed ? -ENOMEM : 0;
}

static int markdown_moves(FILE *out, const struct diff_view *v)
{
	struct buf text = { 0 }, move = { 0 };
	bool failed;

	for (size_t i = 0; i < v->comparison->moves.nr; i++) {
		buf_clear(&move);
		diff_put_move(&move, v, i);
		buf_put_u8(&move, '\0');
		markdown_text(&text, v->nr_notes || i ? "- moved: " : "\n- moved: ");
		if (!move.failed)
			markdown_code(&text, (const char *)move.data);
		markdown_text(&text, "\n");
	}
	markdown_put_text(out, &text);
	failed = text.failed || move.failed;
	buf_done(&text);
	buf_done(&move);
	return failed ? -ENOMEM : 0;
}

static void markdown_summary(FILE *out, const struct diff_view *v,
			     const struct diff_summary *s)
{
	const struct comparison *c = v->comparison;

	fprintf(out, "### Profile comparison: ");
	if (!diff_nr_changed(s))
		fputs("no significant change\n\n", out);
	else
		fprintf(out,
			"%zu slower, %zu faster, %zu new, %zu gone, %zu moved, %zu transient\n\n",
			s->nr_verdicts[VERDICT_SLOWER], s->nr_verdicts[VERDICT_FASTER],
			s->nr_verdicts[VERDICT_NEW], s->nr_verdicts[VERDICT_GONE],
			s->nr_verdicts[VERDICT_MOVED],
			s->nr_verdicts[VERDICT_TRANSIENT]);
	fprintf(out,
		"Base: %zu run%s, %.0f samples. New: %zu run%s, %.0f samples. Values: %s. "
		"%zu rows were tested with a false-discovery rate of %g %%.\n",
		c->nr_runs[SIDE_BASE], c->nr_runs[SIDE_BASE] == 1 ? "" : "s",
		c->samples[SIDE_BASE], c->nr_runs[SIDE_NEW],
		c->nr_runs[SIDE_NEW] == 1 ? "" : "s", c->samples[SIDE_NEW], v->unit,
		c->nr_tested, 100 * c->options.discovery);
}

int write_diff_markdown(FILE *out, const struct diff_view *v)
{
	const struct diff_summary s = diff_summary(v);
	const size_t nr_changed = diff_nr_changed(&s);
	size_t nr = 0;
	int r;

	markdown_summary(out, v, &s);
	r = markdown_notes(out, v);
	if (!r && v->comparison->moves.nr)
		r = markdown_moves(out, v);
	if (!r && (nr_changed || v->comparison->options.is_rate))
		r = markdown_table(out, v, &nr);
	if (!r && nr < nr_changed)
		fprintf(out, "\n%zu more rows changed less.\n", nr_changed - nr);
	return r;
}
