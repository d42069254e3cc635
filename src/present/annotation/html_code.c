/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html_code.c - writes the page of a function: its instructions with their samples, and their
 * source lines between them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "present/annotation/html_pages.h"
#include "present/text/html_text.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

enum {
	SOURCE_MAX_BYTES = 200 /* of a source line between instructions */
};

/* The state of a page while it is written. */
struct write_annotation_html_code_listing {
	struct html_pages *p;
	struct code *code; /* of `image`; NULL: not found */
	uint32_t image;
	uint32_t function; /* of p->code */
	size_t nr;         /* lines written */
	/* The current instruction's frames, and the last line shown. */
	struct line_frame frames[LINKS_FRAMES_MAX];
	size_t nr_frames;
	uint32_t file;
	uint32_t path; /* string */
	uint32_t said_path;
	uint32_t said_line;
};

/* ---- source lines ---- */

/* Writes the call sites at which a line was inlined. */
static int
write_annotation_html_code_put_sites(struct write_annotation_html_code_listing *s)
{
	const struct html_pages *p = s->p;
	const char *path;
	uint32_t file, name;
	int r = 0;

	for (size_t i = 1; !r && i < s->nr_frames && s->frames[i - 1].inlined; i++) {
		path = s->frames[i].file ? s->frames[i].file : "";
		r = links_file(&s->p->links, path, &file, &name);
		fputs(" &#8592; ", p->out);
		page_line_link(p, "../", NULL, file, path, s->frames[i].line);
	}
	return r;
}

/* Writes the source line of the current instruction, unless the previous one had the same line. */
static int
write_annotation_html_code_put_position(struct write_annotation_html_code_listing *s)
{
	const char *path = s->nr_frames ? s->frames[0].file : NULL;
	int r;

	if (!path || (s->path == s->said_path && s->frames[0].line == s->said_line))
		return 0;
	s->said_path = s->path;
	s->said_line = s->frames[0].line;
	page_chunk(s->p, &s->nr);
	fputs("<div class=\"l src\">", s->p->out);
	page_margin(s->p, NULL);
	fputs(" ", s->p->out);
	page_line_link(s->p, "../", NULL, s->file, path, s->frames[0].line);
	r = write_annotation_html_code_put_sites(s);
	if (!r)
		r = page_source_line(s->p, strtab_get(&s->p->a->p->strings, s->path),
				     s->said_line, false, SOURCE_MAX_BYTES);
	fputs("</div>", s->p->out);
	return r;
}

/* ---- instructions ---- */

/* Returns the page of a symbol of the current image, or NULL if it has none. */
static const char *
write_annotation_html_code_page_of(const struct write_annotation_html_code_listing *s,
				   const struct symbol *symbol)
{
	uint32_t raw = strtab_find(&s->p->a->p->strings, symbol->name);
	uint32_t at = raw == STRTAB_FAILED ? MAP_NONE
					   : map_get(&s->p->by_symbol, s->image, raw);

	return at == MAP_NONE ? NULL : s->p->functions[at].text;
}

static bool is_row(const struct write_annotation_html_code_listing *s, uint64_t address)
{
	const struct assembly *code = &s->p->code;

	return code->rows.nr && address >= code->rows.at[0].address &&
	       address < code->rows.at[code->rows.nr - 1].end;
}

/* Returns the symbol of an address of code or data, and its start in *ret_start; NULL: none. */
static const struct symbol *
html_code_symbol(const struct write_annotation_html_code_listing *s, uint64_t address,
		 bool is_data, uint64_t *ret_start)
{
	if (!s->code)
		return NULL;
	return is_data ? code_data_symbol(s->code, address, ret_start)
		       : code_symbol(s->code, address, ret_start);
}

/* Writes "401000 <leaf+0x10>" with a link to the target. */
static void put_target(struct write_annotation_html_code_listing *s, uint64_t address,
		       bool is_data)
{
	FILE *out = s->p->out;
	uint64_t start = 0;
	const struct symbol *symbol = html_code_symbol(s, address, is_data, &start);
	bool here = is_row(s, address);
	const char *page =
		!here && symbol ? write_annotation_html_code_page_of(s, symbol) : NULL;
	char *shown;

	if (here)
		fprintf(out, "<a href=#i%" PRIx64 ">", address);
	else if (page)
		fprintf(out, "<a href=\"%s#i%" PRIx64 "\">", page, address);
	fprintf(out, "%" PRIx64, address);
	if (here || page)
		fputs("</a>", out);
	if (!symbol)
		return;
	shown = profile_name_to_show(s->p->a->p, symbol->name);
	fputs(" &lt;", out);
	html_put(out, shown ? shown : symbol->name);
	if (address != start)
		fprintf(out, "+0x%" PRIx64, address - start);
	fputs("&gt;", out);
	free(shown);
}

static void
write_annotation_html_code_put_insn(struct write_annotation_html_code_listing *s,
				    const struct assembly_row *row,
				    const struct insn *insn)
{
	const char *reference = code_reference(s->code, row->address, row->end);

	html_put(s->p->out, insn->text);
	if (reference) {
		fputs(insn->has_target ? "&lt;" : "  <span class=dim># &lt;",
		      s->p->out);
		html_put(s->p->out, reference);
		fputs(insn->has_target ? "&gt;" : "&gt;</span>", s->p->out);
		return;
	}
	if (insn->has_target)
		put_target(s, insn->target, false);
	if (insn->has_data) {
		fputs("  <span class=dim># ", s->p->out);
		put_target(s, insn->data, true);
		fputs("</span>", s->p->out);
	}
}

/* Notes the links between the current instruction and source lines, for the pages of the
 * sources. */
static int note_links(struct write_annotation_html_code_listing *s,
		      const struct assembly_row *row, const struct insn *insn)
{
	struct strtab *strings = &s->p->a->p->strings;
	char text[INSN_TEXT_MAX + 32];
	uint32_t name;

	if (insn && insn->has_target)
		snprintf(text, sizeof(text), "%s%" PRIx64, insn->text, insn->target);
	else
		snprintf(text, sizeof(text), "%s", insn ? insn->text : "(no code)");
	name = strtab_add(strings, text);
	if (name == STRTAB_FAILED)
		return -ENOMEM;
	return links_add(
		&s->p->links,
		&(struct links_insn){ s->function, row->address, name, row->counts },
		s->frames, s->nr_frames);
}

static int
write_annotation_html_code_find_position(struct write_annotation_html_code_listing *s,
					 uint64_t address)
{
	const char *path;

	s->nr_frames =
		s->code ? code_frames(s->code, address, s->frames, LINKS_FRAMES_MAX)
			: 0;
	path = s->nr_frames ? s->frames[0].file : NULL;
	s->file = LINKS_NO_FILE;
	return path ? links_file(&s->p->links, path, &s->file, &s->path) : 0;
}

static int
write_annotation_html_code_put_row(struct write_annotation_html_code_listing *s,
				   const struct assembly_row *row)
{
	struct html_pages *p = s->p;
	struct insn insn;
	bool known =
		!row->no_code && s->code && !code_insn(s->code, row->address, &insn);
	int r = write_annotation_html_code_find_position(s, row->address);

	if (!r)
		r = write_annotation_html_code_put_position(s);
	page_chunk(p, &s->nr);
	fprintf(p->out, "<div class=\"l%s%s\" id=i%" PRIx64 " tabindex=-1>",
		row->counts ? " s" : "", page_heat(p, row->counts), row->address);
	page_margin(p, row->counts);
	fprintf(p->out, " <a class=no href=#i%" PRIx64 ">%8" PRIx64 "</a>  ",
		row->address, row->address);
	if (known)
		write_annotation_html_code_put_insn(s, row, &insn);
	else
		fputs("(no code)", p->out);
	if (row->counts && s->file != LINKS_NO_FILE) {
		fputs("  <span class=to>", p->out);
		page_line_link(p, "../", "asm", s->file,
			       strtab_get(&p->a->p->strings, s->path),
			       s->frames[0].line);
		fputs("</span>", p->out);
	}
	fputs("</div>", p->out);
	if (!r && row->counts)
		r = note_links(s, row, known ? &insn : NULL);
	return r;
}

/* ---- the page ---- */

static const struct assembly_row *
write_annotation_html_code_hottest_of(const struct assembly *code)
{
	const struct assembly_row *best = NULL;

	for (size_t i = 0; i < code->rows.nr; i++) {
		const struct assembly_row *row = &code->rows.at[i];

		if (row->counts && (!best || row->counts[0] > best->counts[0]))
			best = row;
	}
	return best;
}

static void
write_annotation_html_code_put_bar(const struct write_annotation_html_code_listing *s,
				   const struct assembly_function *f)
{
	const struct assembly_row *hottest =
		write_annotation_html_code_hottest_of(&s->p->code);
	const struct profile *p = s->p->a->p;
	const char *section =
		s->code && hottest ? code_section(s->code, hottest->address) : "";
	FILE *out = s->p->out;

	fputs("<p>", out);
	page_margin(s->p, f->counts);
	fputs(" of ", out);
	html_put(out, strtab_get(&p->strings, p->images.at[f->image].name));
	if (*section) {
		fputs(", ", out);
		html_put(out, section);
	}
	if (hottest)
		fprintf(out,
			", most at <a class=hottest href=#i%" PRIx64 ">%" PRIx64 "</a>",
			hottest->address, hottest->address);
	fputs("</p>\n", out);
	if (!s->code)
		fputs("<p class=note>Binary not found; showing addresses only.</p>\n",
		      out);
}

static int
write_annotation_html_code_prepare(struct write_annotation_html_code_listing *s)
{
	const struct assembly *code = &s->p->code;
	uint64_t *addresses = malloc((code->rows.nr + 1) * sizeof(*addresses));

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < code->rows.nr; i++)
		addresses[i] = code->rows.at[i].address;
	if (s->code)
		code_prepare_lines(s->code, addresses, code->rows.nr);
	free(addresses);
	s->nr = 0;
	s->said_path = STRTAB_FAILED;
	return 0;
}

static int
write_annotation_html_code_write_page(struct write_annotation_html_code_listing *s,
				      const struct assembly_function *f)
{
	struct html_pages *p = s->p;
	const char *name = profile_function_name(p->a->p, f->function);
	char path[PAGE_NAME_MAX + 16];
	int ended;
	int r;

	if (!name)
		return -ENOMEM;
	snprintf(path, sizeof(path), "code/%s", p->functions[s->function].text);
	r = page_begin(p, path, name, "../index.html");
	if (r)
		return r;
	write_annotation_html_code_put_bar(s, f);
	page_main(p);
	fputs("<div class=code>", p->out);
	for (size_t i = 0; !r && i < p->code.rows.nr; i++)
		r = write_annotation_html_code_put_row(s, &p->code.rows.at[i]);
	page_chunk_end(p, &s->nr);
	fputs("</div>\n", p->out);
	ended = page_end(p);
	return r ? r : ended;
}

/* Groups the functions by image, because only one image is open at a time. */
static int compare_images(const void *x, const void *y, void *ctx)
{
	const uint32_t *a = x, *b = y;
	const struct assembly_function *all = ctx;

	if (all[*a].image != all[*b].image)
		return all[*a].image < all[*b].image ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static int write_functions(struct write_annotation_html_code_listing *s,
			   const uint32_t *order)
{
	struct html_pages *p = s->p;
	int r = 0;

	for (size_t i = 0; !r && i < p->code.functions.nr; i++) {
		const struct assembly_function *f = &p->code.functions.at[order[i]];

		s->function = order[i];
		if (!p->functions[s->function].text[0])
			continue;
		s->image = f->image;
		s->code = p->to->code_of(p->to->ctx, f->image);
		r = assembly_rows(&p->code, f, s->code);
		if (!r)
			r = write_annotation_html_code_prepare(s);
		if (!r)
			r = write_annotation_html_code_write_page(s, f);
	}
	return r;
}

int write_html_functions(struct html_pages *p)
{
	size_t nr = p->code.functions.nr;
	uint32_t *order = calloc(nr + 1, sizeof(*order));
	struct write_annotation_html_code_listing s = { .p = p };
	int r;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, nr, sizeof(*order), compare_images, p->code.functions.at);
	r = write_functions(&s, order);
	free(order);
	return r;
}
