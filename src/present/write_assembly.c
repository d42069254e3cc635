#include "present/write_assembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile.h"
#include "present/annotate_margin.h"
#include "present/annotation.h"
#include "present/percent.h"
#include "resolve/code.h"
#include "resolve/insn.h"

enum {
	NONE = 0xffffffff,
	FUNCTION_MAX = 16 << 20 /* bytes that are believed */
};

/* Samples at an address. */
struct hit {
	uint32_t function;
	uint32_t image;
	uint64_t address;
	const uint64_t *counts;
};

/* A line of the listing. */
struct row {
	uint64_t address;
	uint64_t end;
	bool no_code;
	uint64_t *counts; /* NULL: no samples */
};

/* The hits of a function. */
struct part {
	size_t first;
	size_t nr;
	const uint64_t *counts;
};

struct listing {
	FILE *out;
	const struct annotation *a;
	const struct assembly_source *source;
	const struct annotation_layout *l;
	uint64_t *shown;
	VEC(struct hit) hits;
	VEC(struct part) parts;
	VEC(struct row) rows; /* of the function at hand */
	struct code *code;
	uint32_t image;  /* whose code is open */
	uint32_t titled; /* which was named last */
	char section[64];
	uint64_t only; /* with --hottest: the address */
};

/* ---- what there is ---- */

static int compare_hits(const void *x, const void *y)
{
	const struct hit *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_parts(const void *x, const void *y, void *ctx)
{
	const struct part *a = x, *b = y;
	const struct listing *of = ctx;

	for (size_t c = 0; c < of->a->nr_columns; c++)
		if (a->counts[c] != b->counts[c])
			return a->counts[c] > b->counts[c] ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int collect(struct listing *s)
{
	const struct annotation *a = s->a;
	const struct key_list *keys = a->p->options.keys;
	int symbol = keys_find(keys, KEY_SYMBOL);
	int image = keys_find(keys, KEY_IMAGE);
	int address = keys_find(keys, KEY_ADDRESS);

	if (symbol < 0 || image < 0 || address < 0)
		return -EINVAL;
	for (size_t i = 0; i < a->groups.all.nr; i++) {
		const struct line *line = &a->groups.all.at[i];
		struct hit hit = {
			.function = (uint32_t)profile_value(a->p, line->group,
							    (size_t)symbol),
			.image = (uint32_t)profile_value(a->p, line->group,
							 (size_t)image),
			.address = profile_value(a->p, line->group, (size_t)address),
			.counts = line->counts,
		};

		if (hit.function < a->p->functions.nr && !vec_push(&s->hits, hit))
			return -ENOMEM;
	}
	if (s->hits.nr)
		qsort(s->hits.at, s->hits.nr, sizeof(*s->hits.at), compare_hits);
	return 0;
}

static int divide(struct listing *s)
{
	const struct annotation *a = s->a;

	for (size_t i = 0; i < s->hits.nr; i++) {
		uint32_t f = s->hits.at[i].function;
		struct part part = { i, 0, &a->functions[f * a->nr_columns] };

		if ((!i || s->hits.at[i - 1].function != f) &&
		    !vec_push(&s->parts, part))
			return -ENOMEM;
		s->parts.at[s->parts.nr - 1].nr++;
	}
	if (s->parts.nr)
		qsort_r(s->parts.at, s->parts.nr, sizeof(*s->parts.at), compare_parts,
			s);
	return 0;
}

/* ---- one function ---- */

static void open_code(struct listing *s, uint32_t image)
{
	if (s->image == image)
		return;
	s->image = image;
	s->code = s->source->code_of(s->source->ctx, image);
}

/* A row with the sum of the hits before its end, from *at on. */
static int add_row(struct listing *s, const struct row *made, size_t *at, size_t end)
{
	size_t nr = s->a->nr_columns;
	struct row *row;

	if (!vec_push(&s->rows, *made))
		return -ENOMEM;
	row = &s->rows.at[s->rows.nr - 1];
	for (; *at < end && s->hits.at[*at].address < row->end; ++*at) {
		if (!row->counts)
			row->counts = calloc(nr, sizeof(*row->counts));
		if (!row->counts)
			return -ENOMEM;
		for (size_t c = 0; c < nr; c++)
			row->counts[c] += s->hits.at[*at].counts[c];
	}
	return 0;
}

/* Where the function begins and ends, as far as it is known. */
static void find_bounds(const struct listing *s, const struct part *part,
			uint64_t *ret_start, uint64_t *ret_end)
{
	const struct hit *first = &s->hits.at[part->first];
	const struct hit *last = first + part->nr - 1;
	const struct profile_function *f = &s->a->p->functions.at[first->function];
	bool known = f->kind == FUNCTION_NAMED || f->kind == FUNCTION_UNNAMED;
	uint64_t from = known && f->vma <= first->address ? f->vma : first->address;
	const struct symbol *symbol = NULL;
	uint64_t start;

	if (s->code)
		symbol = code_symbol(s->code, from, &start);
	*ret_start = from;
	*ret_end = last->address + 1;
	if (symbol && start == from && symbol->size < FUNCTION_MAX &&
	    from + symbol->size > *ret_end)
		*ret_end = from + symbol->size;
}

static int make_rows(struct listing *s, const struct part *part)
{
	size_t at = part->first, end = part->first + part->nr;
	uint64_t address, stop;
	int r = 0;

	find_bounds(s, part, &address, &stop);
	/* Of something that is too long, or has no code, only what was hit. */
	if (!s->code || stop - address > FUNCTION_MAX)
		stop = address;
	while (!r && address < stop) {
		struct row row = { .address = address };
		struct insn insn;

		if (code_insn(s->code, address, &insn))
			break;
		row.end = address + insn.len;
		r = add_row(s, &row, &at, end);
		address = row.end;
	}
	while (!r && at < end) {
		struct row row = { .address = s->hits.at[at].address, .no_code = true };

		row.end = row.address + 1;
		r = add_row(s, &row, &at, end);
	}
	return r;
}

static void rows_clear(struct listing *s)
{
	for (size_t i = 0; i < s->rows.nr; i++)
		free(s->rows.at[i].counts);
	s->rows.nr = 0;
}

/* ---- text ---- */

static int put_symbol(struct listing *s, uint64_t address)
{
	uint64_t start = 0;
	const struct symbol *symbol = code_symbol(s->code, address, &start);
	char *shown;

	if (!symbol)
		return 0;
	shown = profile_name_to_show(s->a->p, symbol->name);
	fprintf(s->out, " <%s", shown ? shown : symbol->name);
	if (address != start)
		fprintf(s->out, "+0x%" PRIx64, address - start);
	fputc('>', s->out);
	free(shown);
	return 0;
}

static void put_insn(struct listing *s, const struct row *row)
{
	struct insn insn;

	fprintf(s->out, "%8" PRIx64 ":\t", row->address);
	if (row->no_code || code_insn(s->code, row->address, &insn)) {
		fputs("(no code)", s->out);
		return;
	}
	fputs(insn.text, s->out);
	if (insn.has_target) {
		fprintf(s->out, "%" PRIx64, insn.target);
		put_symbol(s, insn.target);
	}
	if (insn.has_data) {
		fprintf(s->out, "        # %" PRIx64, insn.data);
		put_symbol(s, insn.data);
	}
}

static bool is_shown(const struct listing *s, size_t i)
{
	size_t context = (size_t)s->l->context;
	size_t from = i > context ? i - context : 0;
	size_t to = s->rows.nr - i > context ? i + context : s->rows.nr - 1;

	if (s->l->context < 0)
		return true;
	for (size_t k = from; k <= to; k++) {
		const struct row *row = &s->rows.at[k];

		if (s->source->hottest ? row->counts && row->address <= s->only &&
						 s->only < row->end
				       : row->counts != NULL)
			return true;
	}
	return false;
}

static void put_rows(struct listing *s)
{
	bool skipped = false;

	for (size_t i = 0; i < s->rows.nr; i++) {
		const struct row *row = &s->rows.at[i];

		if (!is_shown(s, i)) {
			skipped = true;
			continue;
		}
		if (skipped)
			margin_put_gap(s->out, s->a);
		skipped = false;
		for (size_t c = 0; row->counts && c < s->a->nr_columns; c++)
			s->shown[c] += row->counts[c];
		margin_put(s->out, s->a, &s->l->screen, row->counts);
		put_insn(s, row);
		fputc('\n', s->out);
	}
}

static int put_title(struct listing *s, const struct part *part)
{
	const struct hit *first = &s->hits.at[part->first];
	const char *name = profile_function_name(s->a->p, first->function);
	const char *section = s->code ? code_section(s->code, first->address) : "";

	if (!name)
		return -ENOMEM;
	if (s->titled != s->image && s->code)
		fprintf(s->out, "\n%s:     file format %s\n\n",
			strtab_get(&s->a->p->strings, s->image), code_format(s->code));
	if (s->titled != s->image)
		s->section[0] = '\0';
	s->titled = s->image;
	if (strcmp(section, s->section) != 0) {
		snprintf(s->section, sizeof(s->section), "%s", section);
		fprintf(s->out, "\nDisassembly of section %s:\n", section);
	}
	fprintf(s->out, "\n%016" PRIx64 " <%s>: /* %s total: ", s->rows.at[0].address,
		name, name);
	margin_put_counts(s->out, s->a, part->counts);
	fputs(" */\n", s->out);
	return 0;
}

static int put_function(struct listing *s, const struct part *part)
{
	int r;

	open_code(s, s->hits.at[part->first].image);
	r = make_rows(s, part);
	if (!r && s->rows.nr)
		r = put_title(s, part);
	if (!r)
		put_rows(s);
	rows_clear(s);
	return r;
}

/* ---- all of them ---- */

/* The part with the hottest instruction, which s->only is then. */
static int find_hottest(struct listing *s, size_t *ret_part)
{
	uint64_t most = 0;
	int r = 0;

	for (size_t i = 0; !r && i < s->parts.nr; i++) {
		/* Parts are in order: no instruction has more than all of them. */
		if (s->parts.at[i].counts[0] <= most)
			break;
		open_code(s, s->hits.at[s->parts.at[i].first].image);
		r = make_rows(s, &s->parts.at[i]);
		for (size_t k = 0; k < s->rows.nr; k++) {
			const struct row *row = &s->rows.at[k];

			if (!row->counts || row->counts[0] <= most)
				continue;
			most = row->counts[0];
			s->only = row->address;
			*ret_part = i;
		}
		rows_clear(s);
	}
	return r;
}

static int put_functions(struct listing *s)
{
	const struct assembly_source *from = s->source;
	size_t nr = from->top && from->top < s->parts.nr ? from->top : s->parts.nr;
	size_t i = 0;
	int r = 0;

	if (from->hottest && nr) {
		r = find_hottest(s, &i);
		nr = i + 1;
	}
	for (; !r && i < nr; i++)
		if (percent_of(s->parts.at[i].counts[0], s->a->groups.totals[0]) >=
		    from->threshold)
			r = put_function(s, &s->parts.at[i]);
	return r;
}

int assembly_write(FILE *out, const struct annotation *a,
		   const struct assembly_source *source,
		   const struct annotation_layout *l, uint64_t *shown)
{
	struct listing s = { .out = out,
			     .a = a,
			     .source = source,
			     .l = l,
			     .shown = shown,
			     .image = NONE,
			     .titled = NONE };
	int r = collect(&s);

	if (!r)
		r = divide(&s);
	if (!r)
		r = put_functions(&s);
	vec_done(&s.hits);
	vec_done(&s.parts);
	vec_done(&s.rows);
	return r;
}
