/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_source.c - writes the page of a source: its lines with their samples, and below each line
 * its instructions and inlined calls. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/files/faults.h"
#include "present/annotation/html_pages.h"
#include "present/annotation/source_text.h"
#include "present/annotation/write_annotation.h"
#include "present/lines/percent.h"
#include "present/text/html_text.h"

enum {
	LINE_MAX_BYTES = 4000, /* maximum shown bytes of a line */
	LINKS_SHOWN = 40,      /* maximum of each kind below a line */
	WHOLE_LINES =
		200000, /* in longer sources, lines far from samples are omitted */
	NEAR_LINES = 100,
	NUMBER_COLUMNS = 6
};

static const char *const kind_titles[] = {
	[LINK_INSN] = "instructions",
	[LINK_INLINED_INTO] = "inlined into",
	[LINK_INLINED_HERE] = "inlined here",
};

/* The state of a page while it is written. */
struct write_annotation_html_source_listing {
	struct html_pages *p;
	uint32_t file;
	const struct annotated_file *of;
	size_t line;  /* next index in of->lines */
	size_t start; /* next index in of->starts */
	size_t nr;    /* lines written */
	bool skipped;
};

/* ---- below a line ---- */

static void write_annotation_html_source_put_insn(
	const struct write_annotation_html_source_listing *s,
	const struct line_link *link)
{
	const struct html_pages *p = s->p;
	const struct assembly_function *f = &p->code.functions.at[link->function];
	const char *name = profile_function_name(p->a->p, f->function);
	const char *page = p->functions[link->function].text;

	if (*page)
		fprintf(p->out,
			"<a class=asm href=\"../code/%s#i%" PRIx64 "\">%8" PRIx64
			"</a>  ",
			page, link->address, link->address);
	else
		fprintf(p->out, "%8" PRIx64 "  ", link->address);
	html_put(p->out, strtab_get(&p->a->p->strings, link->text));
	fputs(" <span class=dim>in ", p->out);
	html_put(p->out, name ? name : "");
	fputs("</span>", p->out);
}

static void put_site(const struct write_annotation_html_source_listing *s,
		     const struct line_link *link)
{
	const struct strtab *strings = &s->p->a->p->strings;

	html_put(s->p->out, strtab_get(strings, link->text));
	fputs(link->kind == LINK_INLINED_INTO ? " at " : " of ", s->p->out);
	page_line_link(s->p, "../", "site", link->to_file,
		       strtab_get(strings, link->to_path), link->to_line);
}

static void write_annotation_html_source_put_links(
	const struct write_annotation_html_source_listing *s,
	const struct line_link *links, size_t nr)
{
	FILE *out = s->p->out;
	size_t of_kind = 0;

	fputs("<div class=more>", out);
	for (size_t i = 0; i < nr; i++) {
		bool first = !i || links[i].kind != links[i - 1].kind;
		bool last = i + 1 == nr || links[i].kind != links[i + 1].kind;

		if (first)
			fprintf(out, "<b>%s</b>\n", kind_titles[links[i].kind]);
		of_kind = first ? 1 : of_kind + 1;
		if (of_kind <= LINKS_SHOWN) {
			page_margin(s->p, links_counts(&s->p->links, &links[i]));
			fputs("  ", out);
			if (links[i].kind == LINK_INSN)
				write_annotation_html_source_put_insn(s, &links[i]);
			else
				put_site(s, &links[i]);
			fputc('\n', out);
		} else if (last) {
			fprintf(out, "  and %zu more\n", of_kind - LINKS_SHOWN);
		}
	}
	fputs("</div>", out);
}

/* ---- lines ---- */

/* Writes the totals of the functions that begin at a line. */
static int
write_annotation_html_source_put_starts(struct write_annotation_html_source_listing *s,
					uint32_t line)
{
	const struct html_pages *p = s->p;

	for (; s->start < s->of->nr_starts && s->of->starts[s->start].line <= line;
	     s->start++) {
		const struct annotated_start *start = &s->of->starts[s->start];
		const char *name = profile_function_name(p->a->p, start->function);
		uint32_t page = p->function_of[start->function];

		if (!name)
			return -ENOMEM;
		fputs("  <span class=total>", p->out);
		if (page != LINKS_NO_FILE)
			fprintf(p->out, "<a href=\"../code/%s\">",
				p->functions[page].text);
		html_put(p->out, name);
		fputs(page != LINKS_NO_FILE ? "</a> total: " : " total: ", p->out);
		page_margin(p, start->counts);
		fputs("</span>", p->out);
	}
	return 0;
}

static void write_annotation_html_source_put_text(
	const struct write_annotation_html_source_listing *s, const char *text,
	size_t len)
{
	size_t shown = len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES;

	html_put_len(s->p->out, text, shown);
	if (shown < len)
		fprintf(s->p->out, " <span class=dim>(and %zu bytes more)</span>",
			len - shown);
}

/* Opens the element of a line that has samples, links or totals. */
static void open_line(const struct write_annotation_html_source_listing *s,
		      uint32_t line, const uint64_t *counts, bool links)
{
	fprintf(s->p->out,
		links ? "<details class=\"l%s%s\" id=L%" PRIu32 "><summary>"
		      : "<div class=\"l%s%s\" id=L%" PRIu32 " tabindex=-1>",
		counts ? " s" : "", page_heat(s->p, counts), line);
}

static void write_annotation_html_source_put_number(
	const struct write_annotation_html_source_listing *s, uint32_t line, bool is_id)
{
	if (is_id)
		fprintf(s->p->out,
			" <a id=L%" PRIu32 " href=#L%" PRIu32 ">%*" PRIu32 "</a> ",
			line, line, NUMBER_COLUMNS, line);
	else
		fprintf(s->p->out, " <a class=no href=#L%" PRIu32 ">%*" PRIu32 "</a> ",
			line, NUMBER_COLUMNS, line);
}

static int
write_annotation_html_source_put_line(struct write_annotation_html_source_listing *s,
				      uint32_t line, const char *text, size_t len)
{
	const struct html_pages *p = s->p;
	const uint64_t *counts = NULL;
	size_t nr = 0;
	const struct line_link *links = links_of_line(&p->links, s->file, line, &nr);
	bool starts =
		s->start < s->of->nr_starts && s->of->starts[s->start].line <= line;
	bool plain;
	int r;

	if (s->line < s->of->nr_lines && s->of->lines[s->line].line == line)
		counts = s->of->lines[s->line++].counts;
	plain = !counts && !nr && !starts;
	page_chunk(p, &s->nr);
	if (!plain)
		open_line(s, line, counts, nr);
	page_margin(p, counts);
	write_annotation_html_source_put_number(s, line, plain);
	write_annotation_html_source_put_text(s, text, len);
	r = write_annotation_html_source_put_starts(s, line);
	if (nr) {
		fputs("</summary>", p->out);
		write_annotation_html_source_put_links(s, links, nr);
		fputs("</details>", p->out);
	} else {
		fputs(plain ? "\n" : "</div>", p->out);
	}
	return r;
}

/* Returns the next line that has samples, links or totals; 0: none. */
static uint32_t write_annotation_html_source_next_line(
	const struct write_annotation_html_source_listing *s, uint32_t from)
{
	uint32_t line = s->line < s->of->nr_lines ? s->of->lines[s->line].line : 0;
	uint32_t start = s->start < s->of->nr_starts ? s->of->starts[s->start].line : 0;
	uint32_t link = links_next_line(&s->p->links, s->file, from);

	if (!line || (start && start < line))
		line = start;
	return !line || (link && link < line) ? link : line;
}

static void put_gap(struct write_annotation_html_source_listing *s)
{
	if (s->skipped)
		fputs("<div class=gap>        &#8942;</div>", s->p->out);
	s->skipped = false;
}

static int
write_annotation_html_source_put_source(struct write_annotation_html_source_listing *s,
					FILE *in, uint32_t *ret_line)
{
	uint32_t next = write_annotation_html_source_next_line(s, 1), before = 0;
	uint32_t line = 1;
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	int r = 0;

	for (; !r && (len = getline(&text, &cap, in)) >= 0; line++) {
		bool near = line <= WHOLE_LINES ||
			    (next && next - line <= NEAR_LINES) ||
			    (before && line - before <= NEAR_LINES);

		if (!near) {
			s->skipped = true;
			continue;
		}
		put_gap(s);
		r = write_annotation_html_source_put_line(
			s, line, text, source_line_len(text, (size_t)len));
		if (line == next) {
			before = line;
			next = write_annotation_html_source_next_line(s, line + 1);
		}
	}
	fault_unreadable_stream(in);
	free(text);
	*ret_line = line;
	return r;
}

/* ---- the page ---- */

static const struct annotated_line *
write_annotation_html_source_hottest_of(const struct annotated_file *f)
{
	const struct annotated_line *best = NULL;

	for (size_t i = 0; i < f->nr_lines; i++)
		if (!best || f->lines[i].counts[0] > best->counts[0])
			best = &f->lines[i];
	return best;
}

static void write_annotation_html_source_put_bar(
	const struct write_annotation_html_source_listing *s,
	const struct annotation_source *source)
{
	const struct annotated_line *hottest =
		write_annotation_html_source_hottest_of(s->of);
	FILE *out = s->p->out;

	fputs("<p>", out);
	page_margin(s->p, s->of->counts);
	fputs(" of ", out);
	html_put(out, strtab_get(&s->p->a->p->strings, s->of->image));
	if (hottest)
		fprintf(out,
			", most at line <a class=hottest href=#L%" PRIu32 ">%" PRIu32
			"</a>",
			hottest->line, hottest->line);
	fputs("</p>\n", out);
	if (!source->text)
		fputs("<p class=note>Source file not found: showing line numbers only.</p>\n",
		      out);
	if (source->note) {
		fputs("<p class=note>", out);
		html_put(out, source->note);
		fputs("</p>\n", out);
	}
}

/* Writes a clickable strip at the side that shows the hot positions in the file. */
static void put_map(const struct write_annotation_html_source_listing *s,
		    uint32_t nr_lines)
{
	uint32_t high = nr_lines / 300 + 1;
	uint32_t last = 0;

	fprintf(s->p->out,
		"<svg class=map viewBox=\"0 0 1 %" PRIu32
		"\" preserveAspectRatio=none aria-hidden=true>",
		nr_lines + high);
	for (size_t i = 0; i < s->of->nr_lines; i++) {
		const struct annotated_line *line = &s->of->lines[i];
		double percent = percent_of(line->counts[0], s->p->a->groups.totals[0]);

		if (line->line > nr_lines || (last && line->line - last < high / 2) ||
		    percent < 0.01)
			continue;
		last = line->line;
		fprintf(s->p->out,
			"<a href=#L%" PRIu32 " tabindex=-1><rect y=%" PRIu32
			" width=1 height=%" PRIu32 " opacity=%.2f /></a>",
			line->line, line->line, high,
			percent >= 5 ? 1.0 : 0.25 + percent * 0.15);
	}
	fputs("</svg>\n", s->p->out);
}

static int
write_annotation_html_source_put_all(struct write_annotation_html_source_listing *s,
				     const struct annotation_source *source)
{
	static const char zero[] = "(code of the file without a line number)";
	uint32_t line = 1, last;
	int r = 0;

	fputs("<div class=code>", s->p->out);
	if (s->of->nr_lines && !s->of->lines[0].line)
		r = write_annotation_html_source_put_line(s, 0, zero, strlen(zero));
	if (!r && source->text)
		r = write_annotation_html_source_put_source(s, source->text, &line);
	last = line;
	/* The source is missing, or shorter than the compiler saw it: write the remaining lines
	 * without text. */
	while (!r && (line = write_annotation_html_source_next_line(s, line))) {
		r = write_annotation_html_source_put_line(s, line, "", 0);
		last = line++;
	}
	page_chunk_end(s->p, &s->nr);
	fputs("</div>\n", s->p->out);
	put_map(s, last);
	return r;
}

static int write_annotation_html_source_write_page(struct html_pages *p, size_t file)
{
	struct write_annotation_html_source_listing s = { .p = p,
							  .file = (uint32_t)file,
							  .of = &p->a->files.at[file] };
	struct annotation_source source = { 0 };
	char path[PAGE_NAME_MAX + 16];
	int r = p->to->open_source(p->to->ctx, file, false, &source);
	int ended;

	if (r)
		return r;
	snprintf(path, sizeof(path), "source/%s", p->sources[file].text);
	r = page_begin(p, path, s.of->path, "../index.html");
	if (!r) {
		write_annotation_html_source_put_bar(&s, &source);
		page_main(p);
		r = write_annotation_html_source_put_all(&s, &source);
		ended = page_end(p);
		r = r ? r : ended;
	}
	if (source.text)
		fclose(source.text);
	return r;
}

int write_html_sources(struct html_pages *p)
{
	int r = 0;

	for (size_t f = 0; !r && f < p->a->files.nr; f++) {
		const struct annotated_file *file = &p->a->files.at[f];

		if (!p->sources[f].text[0])
			continue;
		for (size_t c = 0; c < p->a->nr_counts; c++)
			p->shown[c] += file->counts[c];
		r = write_annotation_html_source_write_page(p, f);
	}
	return r;
}
