/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/html.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "annotate_page.h"
#include "base/array.h"
#include "base/containers/hash.h"
#include "base/files/path.h"
#include "present/annotation/annotate_margin.h"
#include "present/annotation/html_pages.h"
#include "present/annotation/write_annotation.h"
#include "present/lines/percent.h"
#include "present/text/html_text.h"

enum {
	NAME_PART = 40 /* characters of the readable part of a page's name */
};

/* ---- pages ---- */

static void write_annotation_html_put_head(struct html_pages *p, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
	      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
	      "style-src '" PAGE_CSS_HASH "'; script-src '" PAGE_JS_HASH "'; "
	      "base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=viewport content=\"width=device-width\">\n"
	      "<meta name=referrer content=no-referrer>\n<title>",
	      p->out);
	html_put(p->out, title);
	fputs("</title>\n<style>" PAGE_CSS "</style>\n</head>\n<body>\n", p->out);
}

int page_begin(struct html_pages *p, const char *path, const char *title,
	       const char *up)
{
	int r = p->to->open_page(p->to->ctx, path, &p->out);

	if (r)
		return r;
	write_annotation_html_put_head(p, title);
	fputs("<header>\n"
	      "<span class=keys hidden><button class=theme title=\"light or dark (t)\">&#9680;</button> <button class=help title=\"keys (?)\">?</button></span>\n",
	      p->out);
	if (up)
		fprintf(p->out, "<a class=up href=\"%s\">index</a>\n", up);
	fputs("<h1>", p->out);
	html_put(p->out, title);
	fputs("</h1>\n", p->out);
	return 0;
}

void page_main(struct html_pages *p)
{
	fputs("</header>\n<main>\n", p->out);
}

int page_end(struct html_pages *p)
{
	FILE *out = p->out;

	fputs("</main>\n<script>" PAGE_JS "</script>\n</body>\n</html>\n", out);
	p->out = NULL;
	return p->to->close_page(p->to->ctx, out);
}

/* ---- parts ---- */

const char *page_heat(const struct html_pages *p, const uint64_t *counts)
{
	static const struct {
		double percent;
		const char *class;
	} rows[] = {
		{ 20, " h9" }, { 10, " h8" },  { 5, " h7" },
		{ 2, " h6" },  { 1, " h5" },   { .5, " h4" },
		{ .2, " h3" }, { .05, " h2" }, { .01, " h1" },
	};
	double percent = counts ? percent_of(counts[0], p->a->groups.totals[0]) : 0;

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		if (percent >= rows[i].percent)
			return rows[i].class;
	return "";
}

void page_margin(const struct html_pages *p, const uint64_t *counts)
{
	if (counts)
		margin_put_counts(p->out, p->a, counts);
	else
		fprintf(p->out, "%*s", margin_columns(p->a), "");
}

void page_line_link(const struct html_pages *p, const char *from, const char *class,
		    uint32_t file, const char *path, uint32_t line)
{
	bool page = file != LINKS_NO_FILE && p->sources[file].text[0];

	if (page && class)
		fprintf(p->out, "<a class=%s href=\"%ssource/%s#L%" PRIu32 "\">", class,
			from, p->sources[file].text, line);
	else if (page)
		fprintf(p->out, "<a href=\"%ssource/%s#L%" PRIu32 "\">", from,
			p->sources[file].text, line);
	html_put(p->out, path_base(path));
	fprintf(p->out, ":%" PRIu32, line);
	if (page)
		fputs("</a>", p->out);
}

static FILE *write_annotation_html_open_text(void *ctx, const char *path)
{
	const struct html_pages *p = ctx;
	struct annotation_source source = { 0 };
	uint32_t name = strtab_find(&p->a->p->strings, path);
	uint32_t file =
		name == STRTAB_FAILED ? MAP_NONE : map_get(&p->links.file_by, name, 0);

	if (file == MAP_NONE || p->to->open_source(p->to->ctx, file, true, &source))
		return NULL;
	return source.text;
}

int page_source_line(struct html_pages *p, const char *path, uint32_t line, bool skip,
		     size_t max)
{
	struct source_text *source = source_texts_find(&p->texts, path);
	const char *text;
	size_t len, blanks = 0;

	if (!source)
		return -ENOMEM;
	text = source_texts_line(&p->texts, source, line, &len);
	if (!text)
		return 0;
	while (skip && blanks < len && (text[blanks] == ' ' || text[blanks] == '\t'))
		blanks++;
	len -= blanks;
	fputs("  ", p->out);
	html_put_len(p->out, text + blanks, len < max ? len : max);
	return 0;
}

void page_chunk(const struct html_pages *p, size_t *nr)
{
	if (*nr % PAGE_CHUNK == 0)
		fputs(*nr ? "</div><div class=c>" : "<div class=c>", p->out);
	++*nr;
}

void page_chunk_end(const struct html_pages *p, const size_t *nr)
{
	if (*nr)
		fputs("</div>\n", p->out);
}

/* ---- names ---- */

/* Builds a page name from the letters, digits, "_", "-" and "." (not first) of a text, and a
 * hash of all that identifies the page.  The name is the same in each run, and safe in file
 * systems and links. */
static void name_page(struct page_name *name, const char *text, uint64_t hash)
{
	size_t at = 0;

	for (; *text && at < NAME_PART; text++) {
		bool plain = isascii((unsigned char)*text) &&
			     (isalnum((unsigned char)*text) || *text == '_' ||
			      *text == '-' || (*text == '.' && at));

		if (plain || (at && name->text[at - 1] != '_'))
			name->text[at++] = (char)(plain ? *text : '_');
	}
	snprintf(name->text + at, sizeof(name->text) - at, "-%016" PRIx64 ".html",
		 hash);
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return hash_bytes(text, strlen(text), seed);
}

/* Changes a hash that another page already has.  Returns 0 or -ENOMEM. */
static int make_unique(struct map *names, uint64_t *hash)
{
	struct map_slot *slot;
	bool is_new;

	for (;; ++*hash) {
		slot = map_at(names, *hash, 0, &is_new);
		if (!slot)
			return -ENOMEM;
		slot->value_plus_1 = 1;
		if (is_new)
			return 0;
	}
}

static int name_sources(struct html_pages *p, struct map *names)
{
	for (size_t f = 0; f < p->a->files.nr; f++) {
		const char *path = p->a->files.at[f].path;
		uint64_t hash = hash_text(path, 0);

		if (!p->to->wants_file(p->to->ctx, f))
			continue;
		if (make_unique(names, &hash))
			return -ENOMEM;
		name_page(&p->sources[f], path_base(path), hash);
	}
	return 0;
}

static uint64_t hash_function(const struct html_pages *p,
			      const struct profile_function *f)
{
	const struct strtab *strings = &p->a->p->strings;
	const struct profile_image *image = &p->a->p->images.at[f->image];
	uint64_t hash = hash_text(strtab_get(strings, image->name), f->vma);

	return hash_text(strtab_get(strings, f->raw), hash);
}

static int name_functions(struct html_pages *p, struct map *names)
{
	size_t nr = p->code.functions.nr;

	if (p->to->top && p->to->top < nr)
		nr = p->to->top;
	for (size_t i = 0; i < nr; i++) {
		const struct assembly_function *f = &p->code.functions.at[i];
		const struct profile_function *of = &p->a->p->functions.at[f->function];
		uint64_t hash = hash_function(p, of);

		if (!annotation_reaches(p->a, f->counts, p->to->threshold))
			continue;
		if (make_unique(names, &hash))
			return -ENOMEM;
		name_page(&p->functions[i], strtab_get(&p->a->p->strings, of->raw),
			  hash);
		p->function_of[f->function] = (uint32_t)i;
		if (map_set(&p->by_symbol, f->image, of->raw, (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

static int name_all(struct html_pages *p)
{
	const struct annotation *a = p->a;
	struct map names = { 0 };
	int r;

	p->sources = calloc(a->files.nr + 1, sizeof(*p->sources));
	p->functions = calloc(p->code.functions.nr + 1, sizeof(*p->functions));
	p->function_of = calloc(a->p->functions.nr + 1, sizeof(*p->function_of));
	p->shown = calloc(a->nr_counts + 1, sizeof(*p->shown));
	if (!p->sources || !p->functions || !p->function_of || !p->shown)
		return -ENOMEM;
	for (size_t i = 0; i < a->p->functions.nr; i++)
		p->function_of[i] = LINKS_NO_FILE;
	r = name_sources(p, &names);
	if (!r)
		r = name_functions(p, &names);
	map_done(&names);
	return r;
}

int annotation_write_html(const struct annotation *a,
			  const struct annotation_pages *pages)
{
	struct html_pages p = { .a = a,
				.to = pages,
				.texts = { .open_source =
						   write_annotation_html_open_text } };
	int r = assembly_make(&p.code, a);

	p.texts.ctx = &p;
	if (!r)
		r = links_init(&p.links, a);
	if (!r)
		r = name_all(&p);
	if (!r)
		r = write_html_functions(&p);
	if (!r)
		r = links_sort(&p.links);
	if (!r)
		r = write_html_sources(&p);
	if (!r)
		r = write_html_index(&p);
	source_texts_done(&p.texts);
	map_done(&p.by_symbol);
	links_done(&p.links);
	assembly_done(&p.code);
	free(p.sources);
	free(p.functions);
	free(p.function_of);
	free(p.shown);
	return r;
}
