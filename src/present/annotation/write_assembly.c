/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/write_assembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/array.h"
#include "present/annotation/annotate_margin.h"
#include "present/annotation/annotation.h"
#include "present/annotation/assembly.h"
#include "present/annotation/assembly_jumps.h"
#include "present/annotation/assembly_lines.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

enum {
	NONE = 0xffffffff,
	/* Percent of the function's samples from which an instruction's predecessors are marked. */
	SKID_FROM = 5
};

struct write_assembly_listing {
	FILE *out;
	const struct annotation *a;
	const struct assembly_source *source;
	const struct annotation_layout *l;
	uint64_t *shown;
	struct assembly assembly;
	struct assembly_jumps jumps;
	struct assembly_lines lines;
	uint8_t *owners; /* by row: the next row's samples may belong to it */
	size_t nr_owners;
	struct code *code;
	uint32_t image;  /* the image whose code is open */
	uint32_t titled; /* the image that was named in the last title */
	char section[64];
	uint64_t only; /* with --hottest: address of the only instruction to show */
};

static void write_assembly_open_code(struct write_assembly_listing *s, uint32_t image)
{
	if (s->image == image)
		return;
	s->image = image;
	s->code = s->source->code_of(s->source->ctx, image);
}

/* ---- text ---- */

static void write_assembly_put_symbol(struct write_assembly_listing *s,
				      uint64_t address, bool is_data)
{
	uint64_t start = 0;
	const struct symbol *symbol =
		is_data ? code_data_symbol(s->code, address, &start)
			: code_symbol(s->code, address, &start);
	char *shown;

	if (!symbol)
		return;
	shown = profile_name_to_show(s->a->p, symbol->name);
	fputs(" <", s->out);
	screen_write_name(s->out, shown ? shown : symbol->name);
	if (address != start)
		fprintf(s->out, "+0x%" PRIx64, address - start);
	fputc('>', s->out);
	free(shown);
}

static void write_assembly_put_insn(struct write_assembly_listing *s,
				    const struct assembly_row *row)
{
	const char *reference;
	struct insn insn;

	fprintf(s->out, "%8" PRIx64 ":\t", row->address);
	if (row->no_code || code_insn(s->code, row->address, &insn)) {
		fputs("(no code)", s->out);
		return;
	}
	fputs(insn.text, s->out);
	reference = code_reference(s->code, row->address, row->end);
	if (reference) {
		fputs(insn.has_target ? "<" : "        # <", s->out);
		screen_write_name(s->out, reference);
		fputc('>', s->out);
		return;
	}
	if (insn.has_target) {
		fprintf(s->out, "%" PRIx64, insn.target);
		write_assembly_put_symbol(s, insn.target, false);
	}
	if (insn.has_data) {
		fprintf(s->out, "        # %" PRIx64, insn.data);
		write_assembly_put_symbol(s, insn.data, true);
	}
}

/* ---- marks on a terminal ---- */

static bool continues_to_next(struct write_assembly_listing *s,
			      const struct assembly_row *row)
{
	static const char *const never[] = { "jmp", "ret", "br ", "b  ", "j  " };
	struct insn insn;

	if (row->no_code || code_insn(s->code, row->address, &insn))
		return false;
	for (size_t i = 0; i < COUNT_OF(never); i++)
		if (!strncmp(insn.text, never[i], strlen(never[i])))
			return false;
	return true;
}

/* Sets s->owners: marks the instructions that can be executed just before one with many samples.
 * Interrupts are delayed (skid), so the samples can belong to these. */
static void mark_owners(struct write_assembly_listing *s,
			const struct assembly_function *f)
{
	const struct assembly *all = &s->assembly;

	for (size_t i = 0; i < all->rows.nr; i++) {
		const struct assembly_row *row = &all->rows.at[i];

		if (!row->counts ||
		    percent_of(row->counts[0], f->counts[0]) < SKID_FROM)
			continue;
		if (i && !row->apart && continues_to_next(s, row - 1))
			s->owners[i - 1] = 1;
		for (size_t k = 0; k < s->jumps.all.nr; k++)
			if (s->jumps.all.at[k].to == i)
				s->owners[s->jumps.all.at[k].from] = 1;
	}
}

static int make_marks(struct write_assembly_listing *s,
		      const struct assembly_function *f)
{
	size_t nr = s->assembly.rows.nr;
	uint8_t *owners;
	int r;

	if (!s->l->screen.is_terminal)
		return 0;
	r = assembly_jumps_find(&s->jumps, &s->assembly, s->code);
	if (r)
		return r;
	owners = realloc(s->owners, nr + 1);
	if (!owners)
		return -ENOMEM;
	memset(owners, 0, nr + 1);
	s->owners = owners;
	if (s->a->has_skid && s->code)
		mark_owners(s, f);
	return 0;
}

static void write_assembly_put_marks(struct write_assembly_listing *s, size_t row)
{
	if (!s->l->screen.is_terminal)
		return;
	fputc(s->owners[row] ? '~' : ' ', s->out);
	assembly_jumps_put(s->out, &s->jumps, row, s->l->screen.utf8);
}

/* ---- rows ---- */

static bool is_near(const struct write_assembly_listing *s, size_t i, size_t context)
{
	const struct assembly *all = &s->assembly;
	size_t from = i > context ? i - context : 0;
	size_t to = all->rows.nr - i > context ? i + context : all->rows.nr - 1;

	for (size_t k = from; k <= to; k++) {
		const struct assembly_row *row = &all->rows.at[k];

		if (s->source->hottest ? row->counts && row->address <= s->only &&
						 s->only < row->end
				       : row->counts != NULL)
			return true;
	}
	return false;
}

static int write_assembly_put_row(struct write_assembly_listing *s, size_t i,
				  bool apart)
{
	const struct assembly_row *row = &s->assembly.rows.at[i];
	int r = 0;

	if (apart)
		margin_put_gap(s->out, s->a);
	for (size_t c = 0; row->counts && c < s->a->nr_counts; c++)
		s->shown[c] += row->counts[c];
	if (s->source->mixed)
		r = assembly_lines_put(&s->lines, s->out, s->code, row->address);
	margin_put(s->out, s->a, &s->l->screen, row->counts);
	write_assembly_put_marks(s, i);
	write_assembly_put_insn(s, row);
	fputc('\n', s->out);
	return r;
}

static int write_assembly_put_rows(struct write_assembly_listing *s)
{
	const struct assembly *all = &s->assembly;
	long context = s->l->context;
	bool skipped = false;
	int r = 0;

	for (size_t i = 0; !r && i < all->rows.nr; i++) {
		if (context >= 0 && !is_near(s, i, (size_t)context)) {
			skipped = true;
			continue;
		}
		r = write_assembly_put_row(s, i, skipped || all->rows.at[i].apart);
		skipped = false;
	}
	return r;
}

static int write_assembly_put_title(struct write_assembly_listing *s,
				    const struct assembly_function *f)
{
	const struct profile *p = s->a->p;
	const char *name = profile_function_name(s->a->p, f->function);
	uint64_t address = s->assembly.rows.at[0].address;
	const char *section = s->code ? code_section(s->code, address) : "";

	if (!name)
		return -ENOMEM;
	if (s->titled != s->image && s->code) {
		fputc('\n', s->out);
		screen_write_name(s->out,
				  strtab_get(&p->strings, p->images.at[f->image].name));
		fprintf(s->out, ":     file format %s\n\n", code_format(s->code));
	}
	if (s->titled != s->image)
		s->section[0] = '\0';
	s->titled = s->image;
	if (*section && strcmp(section, s->section) != 0) {
		snprintf(s->section, sizeof(s->section), "%s", section);
		fputs("\nDisassembly of section ", s->out);
		screen_write_name(s->out, section);
		fputs(":\n", s->out);
	}
	fprintf(s->out, "\n%016" PRIx64 " <", address);
	screen_write_name(s->out, name);
	fputs(">: /* ", s->out);
	screen_write_name(s->out, name);
	fputs(" total: ", s->out);
	margin_put_counts(s->out, s->a, f->counts);
	fputs(" */\n", s->out);
	return 0;
}

static int put_rows_of(struct write_assembly_listing *s,
		       const struct assembly_function *f)
{
	int r = assembly_rows(&s->assembly, f, s->code);

	if (r || !s->assembly.rows.nr)
		return r;
	r = make_marks(s, f);
	if (!r && s->source->mixed)
		r = assembly_lines_begin(&s->lines, s->code, &s->assembly);
	if (!r)
		r = write_assembly_put_title(s, f);
	if (r)
		return r;
	if (s->source->write && s->code)
		r = s->source->write(s->source->ctx, s->out, &s->assembly, f, s->shown);
	return r ? r : write_assembly_put_rows(s);
}

static int write_assembly_put_function(struct write_assembly_listing *s,
				       const struct assembly_function *f)
{
	int r;

	write_assembly_open_code(s, f->image);
	r = put_rows_of(s, f);
	return r < 0 ? r : 0;
}

/* ---- all of them ---- */

/* Finds the function with the hottest instruction, and sets s->only to its address. */
static int find_hottest(struct write_assembly_listing *s, size_t *ret_function)
{
	struct assembly *all = &s->assembly;
	uint64_t most = 0;
	int r = 0;

	for (size_t i = 0; !r && i < all->functions.nr; i++) {
		/* Functions are sorted, and no instruction has more samples than its function. */
		if (all->functions.at[i].counts[0] <= most)
			break;
		write_assembly_open_code(s, all->functions.at[i].image);
		r = assembly_rows(all, &all->functions.at[i], s->code);
		for (size_t k = 0; k < all->rows.nr; k++) {
			const struct assembly_row *row = &all->rows.at[k];

			if (!row->counts || row->counts[0] <= most)
				continue;
			most = row->counts[0];
			s->only = row->address;
			*ret_function = i;
		}
	}
	return r;
}

static int write_assembly_put_functions(struct write_assembly_listing *s)
{
	const struct assembly_source *from = s->source;
	size_t nr = s->assembly.functions.nr;
	size_t i = 0;
	int r = 0;

	if (from->top && from->top < nr)
		nr = from->top;
	if (from->hottest && nr) {
		r = find_hottest(s, &i);
		nr = i + 1;
	}
	for (; !r && i < nr; i++) {
		const struct assembly_function *f = &s->assembly.functions.at[i];

		if (annotation_reaches(s->a, f->counts, from->threshold))
			r = write_assembly_put_function(s, f);
	}
	return r;
}

int assembly_write(FILE *out, const struct annotation *a,
		   const struct assembly_source *source,
		   const struct annotation_layout *l, uint64_t *shown)
{
	struct write_assembly_listing s = { .out = out,
					    .a = a,
					    .source = source,
					    .l = l,
					    .shown = shown,
					    .image = NONE,
					    .titled = NONE };
	int r;

	assembly_lines_init(&s.lines, a, source);
	r = assembly_make(&s.assembly, a);
	if (!r)
		r = write_assembly_put_functions(&s);
	assembly_done(&s.assembly);
	assembly_jumps_done(&s.jumps);
	assembly_lines_done(&s.lines);
	free(s.owners);
	return r;
}
