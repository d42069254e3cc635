/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_index.c - writes the index page: the hottest lines, all sources and functions sorted by
 * samples, and the sums. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/count/classes.h"
#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/files/io.h"
#include "present/annotation/html_pages.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "present/text/header.h"
#include "present/text/html_text.h"

enum {
	HOTTEST_LINES = 25,
	TEXT_MAX_BYTES = 160 /* of a source line */
};

/* A candidate for the hottest lines. */
struct hot_line {
	uint32_t file;
	const struct annotated_line *line;
};

/* ---- cells ---- */

/* Writes the column titles. If there are several columns of counts, each has its event in the
 * title. */
static void write_annotation_html_index_put_heads(const struct html_pages *p,
						  const char *const *names)
{
	const struct annotation *a = p->a;
	struct buf title = { 0 };

	fputs("<table><thead><tr>", p->out);
	for (size_t c = 0; c < a->nr_columns; c++) {
		buf_clear(&title);
		if (a->nr_columns > 1)
			classes_put_title(&a->groups.classes, c, &title);
		else
			buf_put(&title, "samples", strlen("samples"));
		fputs("<th>", p->out);
		if (title.len)
			html_put_len(p->out, (const char *)title.data, title.len);
		fputs("<th>%", p->out);
	}
	for (fputs("<th>", p->out); *names; names++)
		fprintf(p->out, "<th>%s", *names);
	fputs("</tr></thead><tbody>\n", p->out);
	buf_done(&title);
}

static void write_annotation_html_index_put_cells(const struct html_pages *p,
						  const uint64_t *counts)
{
	const uint64_t *totals = p->a->groups.totals;

	fputs("<tr>", p->out);
	for (size_t c = 0; c < p->a->nr_columns; c++) {
		char percent[PERCENT_MAX];

		percent_format(percent_of(counts[c], totals[c]), percent);
		fprintf(p->out, "<td class=\"n%s\">%" PRIu64 "<td class=n>%s",
			c ? "" : page_heat(p, counts), counts[c],
			percent + strspn(percent, " "));
	}
	fprintf(p->out,
		"<td><svg class=bar viewBox=\"0 0 100 1\" preserveAspectRatio=none aria-hidden=true><rect width=%.2f height=1 /></svg>",
		percent_of(counts[0], totals[0]));
}

/* ---- the hottest lines ---- */

static int compare_hot(const void *x, const void *y, void *ctx)
{
	const struct hot_line *a = x, *b = y;
	const struct html_pages *of = ctx;

	for (size_t c = 0; c < of->a->nr_counts; c++)
		if (a->line->counts[c] != b->line->counts[c])
			return a->line->counts[c] > b->line->counts[c] ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line->line < b->line->line ? -1 : a->line->line > b->line->line;
}

/* Returns all lines of sources that have pages, hottest first.  The caller frees them. */
static struct hot_line *sort_lines(struct html_pages *p, size_t *ret_nr)
{
	struct hot_line *all = calloc(p->a->all_lines.nr + 1, sizeof(*all));
	size_t nr = 0;

	for (size_t f = 0; all && f < p->a->files.nr; f++) {
		const struct annotated_file *file = &p->a->files.at[f];

		for (size_t i = 0; p->sources[f].text[0] && i < file->nr_lines; i++)
			all[nr++] = (struct hot_line){ (uint32_t)f, &file->lines[i] };
	}
	if (nr)
		qsort_r(all, nr, sizeof(*all), compare_hot, p);
	*ret_nr = nr;
	return all;
}

static int put_hot_line(struct html_pages *p, const struct hot_line *hot)
{
	const char *path = p->a->files.at[hot->file].path;
	int r;

	write_annotation_html_index_put_cells(p, hot->line->counts);
	fputs("<td>", p->out);
	page_line_link(p, "", "hot", hot->file, path, hot->line->line);
	fputs("<td class=t>", p->out);
	r = page_source_line(p, path, hot->line->line, true, TEXT_MAX_BYTES);
	fputs("\n", p->out);
	return r;
}

static int put_hottest(struct html_pages *p)
{
	static const char *const names[] = { "line", "", NULL };
	size_t nr;
	struct hot_line *all = sort_lines(p, &nr);
	int r = all ? 0 : -ENOMEM;

	if (nr) {
		fputs("<h2>Hottest lines</h2>\n", p->out);
		write_annotation_html_index_put_heads(p, names);
		for (size_t i = 0; !r && i < nr && i < HOTTEST_LINES; i++)
			r = put_hot_line(p, &all[i]);
		fputs("</tbody></table>\n", p->out);
	}
	free(all);
	return r;
}

/* ---- sources and functions ---- */

static void put_sources(const struct html_pages *p)
{
	static const char *const names[] = { "source", "mostly of", NULL };

	fputs("<h2>Sources</h2>\n", p->out);
	write_annotation_html_index_put_heads(p, names);
	for (size_t f = 0; f < p->a->files.nr; f++) {
		const struct annotated_file *file = &p->a->files.at[f];

		if (!p->sources[f].text[0])
			continue;
		write_annotation_html_index_put_cells(p, file->counts);
		fprintf(p->out, "<td class=t><a class=source href=\"source/%s\">",
			p->sources[f].text);
		html_put(p->out, file->path);
		fputs("</a><td class=\"t dim\">", p->out);
		html_put(p->out, strtab_get(&p->a->p->strings, file->image));
		fputs("\n", p->out);
	}
	fputs("</tbody></table>\n", p->out);
}

static int write_annotation_html_index_put_functions(const struct html_pages *p)
{
	static const char *const names[] = { "function, with what was inlined into it",
					     "of", NULL };
	const struct profile *profile = p->a->p;

	fputs("<h2>Functions</h2>\n", p->out);
	write_annotation_html_index_put_heads(p, names);
	for (size_t i = 0; i < p->code.functions.nr; i++) {
		const struct assembly_function *f = &p->code.functions.at[i];
		const char *name = profile_function_name(p->a->p, f->function);

		if (!name)
			return -ENOMEM;
		if (!p->functions[i].text[0])
			continue;
		write_annotation_html_index_put_cells(p, f->counts);
		fprintf(p->out, "<td class=t><a class=function href=\"code/%s\">",
			p->functions[i].text);
		html_put(p->out, name);
		fputs("</a><td class=\"t dim\">", p->out);
		html_put(p->out, strtab_get(&profile->strings,
					    profile->images.at[f->image].name));
		fputs("\n", p->out);
	}
	fputs("</tbody></table>\n", p->out);
	return 0;
}

/* ---- sums ---- */

static void write_annotation_html_index_put_sum(const struct html_pages *p,
						const uint64_t *counts,
						const char *what, const char *name)
{
	write_annotation_html_index_put_cells(p, counts);
	fprintf(p->out, "<td>%s", what);
	html_put(p->out, name);
	fputs("\n", p->out);
}

static int write_annotation_html_index_put_sums(const struct html_pages *p)
{
	static const char *const names[] = { "samples", NULL };
	const struct annotation *a = p->a;
	uint64_t *left = calloc(a->nr_counts + 1, sizeof(*left));

	if (!left)
		return -ENOMEM;
	for (size_t c = 0; c < a->nr_counts; c++)
		left[c] = a->groups.totals[c] - p->shown[c] - a->other[c] -
			  a->without_line[c];
	fputs("<h2>Sums</h2>\n", p->out);
	write_annotation_html_index_put_heads(p, names);
	write_annotation_html_index_put_sum(p, p->shown, "in the sources above", "");
	write_annotation_html_index_put_sum(p, left, "in sources without a page", "");
	write_annotation_html_index_put_sum(p, a->other,
					    "in functions that are not shown", "");
	write_annotation_html_index_put_sum(p, a->without_line,
					    "without a source line, of which:", "");
	for (size_t i = 0; i < a->rest.nr; i++)
		write_annotation_html_index_put_sum(
			p, a->rest.at[i].counts, "&nbsp; ",
			strtab_get(&a->p->strings, a->rest.at[i].image));
	write_annotation_html_index_put_sum(p, a->groups.totals, "in all", "");
	fputs("</tbody></table>\n", p->out);
	free(left);
	return 0;
}

static int write_annotation_html_index_put_about(const struct html_pages *p)
{
	struct buf text = { 0 };
	FILE *memory = io_open_memory(&text);

	if (!memory)
		return -ENOMEM;
	header_write(memory, p->a->p, &p->a->groups);
	for (size_t i = 0; p->to->words[i]; i++) {
		fputs(i ? " " : "Command line: ", memory);
		screen_write_name(memory, p->to->words[i]);
	}
	if (io_close_memory(memory, &text)) {
		buf_done(&text);
		return -ENOMEM;
	}
	fputs("<pre class=about>", p->out);
	/* Keep the line ends, which html_put() would replace. */
	for (const char *at = (const char *)text.data; *at; at += *at == '\n') {
		size_t n = strcspn(at, "\n");

		html_put_len(p->out, at, n);
		fputc('\n', p->out);
		at += n;
	}
	fputs("</pre>\n", p->out);
	if (p->a->has_skid)
		fputs("<p class=note>The event is not precise: "
		      "a sample can belong to the code executed just before.</p>\n",
		      p->out);
	buf_done(&text);
	return 0;
}

int write_html_index(struct html_pages *p)
{
	int ended;
	int r = page_begin(p, "index.html", "Samples by source and code", NULL);

	if (r)
		return r;
	fputs("<p><input type=search placeholder=\"filter (/)\" aria-label=filter hidden></p>\n",
	      p->out);
	page_main(p);
	r = write_annotation_html_index_put_about(p);
	if (!r)
		r = put_hottest(p);
	if (!r)
		put_sources(p);
	if (!r)
		r = write_annotation_html_index_put_functions(p);
	if (!r)
		r = write_annotation_html_index_put_sums(p);
	ended = page_end(p);
	return r ? r : ended;
}
