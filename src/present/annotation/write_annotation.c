/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/write_annotation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/buf.h"
#include "base/files/faults.h"
#include "base/files/io.h"
#include "present/annotation/annotate_margin.h"
#include "present/annotation/annotation.h"
#include "present/annotation/source_text.h"
#include "present/lines/screen.h"
#include "present/text/header.h"

/* The state while an annotated file is written. */
struct write_annotation_listing {
	FILE *out;
	const struct annotation *a;
	const struct annotated_file *file;
	const struct annotation_layout *l;
	uint64_t *shown;
	size_t line;  /* next index in file->lines */
	size_t start; /* next index in file->starts */
	size_t site;  /* next index in file->sites */
	/* the last line that had counts or comments */
	uint32_t near_from;
	uint32_t near_to;
	bool skipped;
};

static void count_shown(const struct write_annotation_listing *s,
			const uint64_t *counts)
{
	for (size_t c = 0; counts && c < s->a->nr_counts; c++)
		s->shown[c] += counts[c];
}

/* ---- functions ---- */

static int write_annotation_put_name(const struct write_annotation_listing *s,
				     const struct annotated_start *start)
{
	const char *name = profile_function_name(s->a->p, start->function);

	if (!name)
		return -ENOMEM;
	screen_write_name(s->out, name);
	return 0;
}

static int put_several(const struct write_annotation_listing *s,
		       const struct annotated_start *starts, size_t nr)
{
	uint64_t *sum = calloc(s->a->nr_counts, sizeof(*sum));
	int r = sum ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < nr; i++) {
		r = write_annotation_put_name(s, &starts[i]);
		fputc(' ', s->out);
		margin_put_counts(s->out, s->a, starts[i].counts);
		fputs(", ", s->out);
		for (size_t c = 0; !r && c < s->a->nr_counts; c++)
			sum[c] += starts[i].counts[c];
	}
	if (!r) {
		fputs("total: ", s->out);
		margin_put_counts(s->out, s->a, sum);
	}
	free(sum);
	return r;
}

/* Writes the totals of the functions that begin at a line, after its text. */
static int write_annotation_put_starts(struct write_annotation_listing *s,
				       uint32_t line)
{
	const struct annotated_start *starts = &s->file->starts[s->start];
	size_t nr = 0;
	int r;

	while (s->start < s->file->nr_starts &&
	       s->file->starts[s->start].line == line) {
		s->start++;
		nr++;
	}
	if (!nr)
		return 0;
	fputs(" /* ", s->out);
	if (nr == 1) {
		r = write_annotation_put_name(s, starts);
		fputs(" total: ", s->out);
		margin_put_counts(s->out, s->a, starts->counts);
	} else {
		r = put_several(s, starts, nr);
	}
	fputs(" */", s->out);
	return r;
}

/* Writes the functions inlined at a line, and the function declared there if it was inlined
 * elsewhere. */
static void write_annotation_put_sites(struct write_annotation_listing *s,
				       uint32_t line)
{
	const struct annotated_file *f = s->file;

	for (; s->site < f->nr_sites && f->sites[s->site].line == line; s->site++) {
		const struct annotated_site *site = &f->sites[s->site];

		fputs(" /* ", s->out);
		screen_write_name(s->out, strtab_get(&s->a->p->strings, site->name));
		fprintf(s->out, " inlined %s: ", site->is_sum ? "in all" : "here");
		margin_put_counts(s->out, s->a, site->counts);
		fputs(" */", s->out);
	}
}

/* Skips the starts and sites of a line that is not shown. */
static void skip_comments(struct write_annotation_listing *s, uint32_t line)
{
	const struct annotated_file *f = s->file;

	while (s->start < f->nr_starts && f->starts[s->start].line == line)
		s->start++;
	while (s->site < f->nr_sites && f->sites[s->site].line == line)
		s->site++;
}

/* ---- lines ---- */

/* Returns the next line that has samples, starts or sites; 0: none. */
static uint32_t write_annotation_next_line(const struct write_annotation_listing *s)
{
	const struct annotated_file *f = s->file;
	uint32_t line = s->line < f->nr_lines ? f->lines[s->line].line : 0;
	uint32_t start = s->start < f->nr_starts ? f->starts[s->start].line : 0;
	uint32_t site = s->site < f->nr_sites ? f->sites[s->site].line : 0;

	if (!line || (start && start < line))
		line = start;
	return !line || (site && site < line) ? site : line;
}

static const uint64_t *write_annotation_counts_at(struct write_annotation_listing *s,
						  uint32_t line)
{
	if (s->line >= s->file->nr_lines || s->file->lines[s->line].line != line)
		return NULL;
	return s->file->lines[s->line++].counts;
}

static bool around(const struct write_annotation_listing *s, uint32_t line, uint32_t of)
{
	uint64_t context = (uint64_t)s->l->context;

	return of && line + context >= of && line <= of + context;
}

static bool write_annotation_is_shown(struct write_annotation_listing *s, uint32_t line)
{
	uint32_t next = write_annotation_next_line(s);

	if (s->l->context < 0)
		return true;
	if (s->l->only_line)
		return around(s, line, s->l->only_line);
	if (next == line)
		s->near_from = line;
	return around(s, line, next) || around(s, line, s->near_from);
}

static int write_annotation_put_line(struct write_annotation_listing *s, uint32_t line,
				     const char *text, size_t len)
{
	bool shown = write_annotation_is_shown(s, line);
	const uint64_t *counts = write_annotation_counts_at(s, line);
	int r;

	if (!shown) {
		s->skipped = true;
		skip_comments(s, line);
		return 0;
	}
	if (s->skipped)
		margin_put_gap(s->out, s->a);
	s->skipped = false;
	count_shown(s, counts);
	margin_put(s->out, s->a, &s->l->screen, counts);
	if (text)
		screen_write_code(s->out, text, len);
	else
		fprintf(s->out, "/* line %" PRIu32 " */", line);
	r = write_annotation_put_starts(s, line);
	write_annotation_put_sites(s, line);
	fputc('\n', s->out);
	return r;
}

static int write_annotation_put_source(struct write_annotation_listing *s, FILE *in)
{
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	int r = 0;

	for (uint32_t line = 1; !r && (len = getline(&text, &cap, in)) >= 0; line++)
		r = write_annotation_put_line(s, line, text,
					      source_line_len(text, (size_t)len));
	fault_unreadable_stream(in);
	free(text);
	return r;
}

static void put_line_zero(struct write_annotation_listing *s)
{
	const uint64_t *counts = write_annotation_counts_at(s, 0);

	if (counts && !s->l->only_line) {
		count_shown(s, counts);
		fputs("<credited to line zero> ", s->out);
		margin_put(s->out, s->a, &s->l->screen, counts);
	}
	fputc('\n', s->out);
}

static void write_annotation_put_about(const struct write_annotation_listing *s,
				       const char *note)
{
	fputs("/* \n * Total samples for file : \"", s->out);
	screen_write_name(s->out, s->file->path);
	fputs("\"\n * \n * ", s->out);
	margin_put_counts(s->out, s->a, s->file->counts);
	fputc('\n', s->out);
	if (note)
		fprintf(s->out, " * %s\n", note);
	fputs(" */\n\n", s->out);
}

int annotation_write_file(FILE *out, const struct annotation *a, size_t file,
			  const struct annotation_source *source,
			  const struct annotation_layout *l, uint64_t *shown)
{
	struct write_annotation_listing s = {
		.out = out, .a = a, .file = &a->files.at[file], .l = l, .shown = shown
	};
	struct write_annotation_listing about = s;
	uint32_t line;
	int r = 0;

	if (!l->info_last) {
		write_annotation_put_about(&s, source->note);
		put_line_zero(&s);
	} else {
		write_annotation_counts_at(&s, 0);
	}
	if (source->text)
		r = write_annotation_put_source(&s, source->text);
	/* The source is missing, or shorter than the compiler saw it: write the remaining lines
	 * without text. */
	while (!r && (line = write_annotation_next_line(&s)))
		r = write_annotation_put_line(&s, line, NULL, 0);
	if (!r && l->info_last) {
		write_annotation_put_about(&about, source->note);
		put_line_zero(&about);
		r = annotation_write_info(out, a, l);
	}
	return r;
}

/* ---- comments ---- */

static void put_commented(FILE *out, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		fprintf(out, " * %.*s\n", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

int annotation_write_info(FILE *out, const struct annotation *a,
			  const struct annotation_layout *l)
{
	struct buf text = { 0 };
	FILE *memory = io_open_memory(&text);

	if (!memory)
		return -ENOMEM;
	header_write(memory, a->p, &a->groups);
	if (io_close_memory(memory, &text)) {
		buf_done(&text);
		return -ENOMEM;
	}
	fputs("/* \n * Command line: ", out);
	for (size_t i = 0; l->words[i]; i++) {
		screen_write_name(out, l->words[i]);
		fputc(' ', out);
	}
	fputs("\n * \n * Interpretation of command line:\n", out);
	for (size_t i = 0; l->said[i]; i++)
		fprintf(out, " * %s\n", l->said[i]);
	fputs(" * \n", out);
	put_commented(out, (const char *)text.data);
	fputs(" */\n", out);
	buf_done(&text);
	return 0;
}

static void write_annotation_put_sum(FILE *out, const struct annotation *a,
				     const uint64_t *counts, const char *what,
				     const char *name)
{
	fputs(" * ", out);
	margin_put_counts(out, a, counts);
	fprintf(out, " %s%s\n", what, name);
}

static void write_annotation_put_rest(FILE *out, const struct annotation *a,
				      const struct annotated_rest *rest)
{
	fputs(" * ", out);
	margin_put_counts(out, a, rest->counts);
	fputs("   ", out);
	screen_write_name(out, strtab_get(&a->p->strings, rest->image));
	fprintf(out, " (%s)\n",
		rest->has_lines ? "code not covered by its debug information"
				: "no debug information");
}

static bool any(const struct annotation *a, const uint64_t *counts)
{
	for (size_t c = 0; c < a->nr_counts; c++) {
		if (counts[c])
			return true;
	}
	return false;
}

static void put_skid(FILE *out, const struct annotation_layout *l, bool by_line)
{
	fprintf(out,
		" * \n"
		" * The event is not precise: "
		"a sample can belong to the %s executed just before%s.\n",
		by_line ? "line" : "instruction",
		!by_line && l->screen.is_terminal ? " (~ where there are many)" : "");
}

void annotation_write_sums(FILE *out, const struct annotation *a,
			   const struct annotation_layout *l, const uint64_t *shown,
			   bool by_line)
{
	uint64_t *left = calloc(a->nr_counts + 1, sizeof(*left));

	for (size_t c = 0; left && c < a->nr_counts; c++)
		left[c] = a->groups.totals[c] - shown[c] - a->other[c] -
			  (by_line ? a->without_line[c] : 0);
	fputs("/* \n * Samples\n * \n", out);
	write_annotation_put_sum(
		out, a, shown,
		by_line ? "in the lines shown" : "in the instructions shown", "");
	if (left && any(a, left))
		write_annotation_put_sum(out, a, left,
					 by_line ? "in files and lines not shown"
						 : "in code not shown",
					 "");
	if (any(a, a->other))
		write_annotation_put_sum(out, a, a->other, "in functions not shown",
					 "");
	if (by_line && any(a, a->without_line))
		write_annotation_put_sum(out, a, a->without_line,
					 "without a source line, of which:", "");
	for (size_t i = 0; by_line && i < a->rest.nr; i++)
		write_annotation_put_rest(out, a, &a->rest.at[i]);
	write_annotation_put_sum(out, a, a->groups.totals, "in all", "");
	if (a->has_skid)
		put_skid(out, l, by_line);
	fputs(" */\n", out);
	free(left);
}
