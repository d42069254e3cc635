/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/assembly.h"

#include <errno.h>
#include <stdlib.h>

#include "aggregate/profile/profile.h"
#include "present/annotation/annotation.h"
#include "resolve/code/code.h"
#include "resolve/code/insn.h"

enum {
	FUNCTION_MAX = 16 << 20 /* bytes; a larger size is considered wrong */
};

static int assembly_compare_hits(const void *x, const void *y)
{
	const struct assembly_hit *a = x, *b = y;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_functions(const void *x, const void *y, void *ctx)
{
	const struct assembly_function *a = x, *b = y;
	const struct assembly *of = ctx;

	for (size_t c = 0; c < of->a->nr_counts; c++)
		if (a->counts[c] != b->counts[c])
			return a->counts[c] > b->counts[c] ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int assembly_collect(struct assembly *s)
{
	const struct annotation *a = s->a;
	const struct key_list *keys = a->p->options.keys;
	int symbol = keys_find(keys, KEY_SYMBOL);
	int address = keys_find(keys, KEY_ADDRESS);

	if (symbol < 0 || address < 0)
		return -EINVAL;
	for (size_t i = 0; i < a->groups.all.nr; i++) {
		const struct line *line = &a->groups.all.at[i];
		struct assembly_hit hit = {
			.function = (uint32_t)profile_value(a->p, line->group,
							    (size_t)symbol),
			.address = profile_value(a->p, line->group, (size_t)address),
			.counts = line->counts,
		};

		if (hit.function < a->p->functions.nr && !vec_push(&s->hits, hit))
			return -ENOMEM;
	}
	if (s->hits.nr)
		qsort(s->hits.at, s->hits.nr, sizeof(*s->hits.at),
		      assembly_compare_hits);
	return 0;
}

static int assembly_divide(struct assembly *s)
{
	const struct annotation *a = s->a;

	for (size_t i = 0; i < s->hits.nr; i++) {
		uint32_t f = s->hits.at[i].function;
		struct assembly_function made = {
			.function = f,
			.image = a->p->functions.at[f].image,
			.first_hit = i,
			.counts = &a->functions[f * a->nr_counts],
		};

		if ((!i || s->hits.at[i - 1].function != f) &&
		    !vec_push(&s->functions, made))
			return -ENOMEM;
		s->functions.at[s->functions.nr - 1].nr_hits++;
	}
	if (s->functions.nr)
		qsort_r(s->functions.at, s->functions.nr, sizeof(*s->functions.at),
			compare_functions, s);
	return 0;
}

int assembly_make(struct assembly *s, const struct annotation *a)
{
	int r;

	*s = (struct assembly){ .a = a };
	r = assembly_collect(s);
	return r ? r : assembly_divide(s);
}

static void rows_clear(struct assembly *s)
{
	for (size_t i = 0; i < s->rows.nr; i++)
		free(s->rows.at[i].counts);
	s->rows.nr = 0;
}

void assembly_done(struct assembly *s)
{
	rows_clear(s);
	vec_done(&s->rows);
	vec_done(&s->hits);
	vec_done(&s->functions);
}

/* ---- rows ---- */

/* A contiguous range of code. */
struct assembly_range {
	uint64_t start;
	uint64_t end;
};

/* Returns the range that contains a hit: the known function, a symbol, or only the hit's
 * address. */
static struct assembly_range range_of(const struct assembly *s, size_t hit, size_t end,
				      const struct code *code)
{
	const struct assembly_hit *at = &s->hits.at[hit];
	const struct profile_function *f = &s->a->p->functions.at[at->function];
	struct assembly_range range = { at->address, at->address + 1 };
	const struct symbol *symbol = code_symbol(code, at->address, &range.start);

	if (f->kind == FUNCTION_NAMED && symbol && symbol->size < FUNCTION_MAX &&
	    range.start + symbol->size > at->address) {
		range.end = range.start + symbol->size;
		return range;
	}
	range.start = at->address;
	/* Only the start is known, so the function extends at least to its last sample. */
	if ((f->kind == FUNCTION_NAMED || f->kind == FUNCTION_UNNAMED) &&
	    f->vma <= at->address &&
	    s->hits.at[end - 1].address - f->vma < FUNCTION_MAX) {
		range.start = f->vma;
		range.end = s->hits.at[end - 1].address + 1;
	}
	return range;
}

/* Adds a row with the sum of the hits before its end, and advances *at past them. */
static int assembly_add_row(struct assembly *s, const struct assembly_row *made,
			    size_t *at, size_t end)
{
	size_t nr = s->a->nr_counts;
	uint64_t *counts = NULL;

	if (!vec_grow(&s->rows))
		return -ENOMEM;
	if (*at < end && s->hits.at[*at].address < made->end)
		counts = calloc(nr + 1, sizeof(*counts));
	s->rows.at[s->rows.nr] = *made;
	s->rows.at[s->rows.nr++].counts = counts;
	for (; *at < end && s->hits.at[*at].address < made->end; ++*at) {
		if (!counts)
			return -ENOMEM;
		for (size_t c = 0; c < nr; c++)
			counts[c] += s->hits.at[*at].counts[c];
	}
	return 0;
}

/* Adds the instructions of a range as far as code is available.  Hits that are not within an
 * instruction remain. */
static int add_range(struct assembly *s, const struct assembly_range *range,
		     struct code *code, size_t *at, size_t end)
{
	struct assembly_row row = { .address = range->start, .apart = s->rows.nr != 0 };
	struct insn insn;
	int r = 0;

	/* Do not repeat rows that are already shown. */
	if (s->rows.nr && s->rows.at[s->rows.nr - 1].end > row.address) {
		row.address = s->rows.at[s->rows.nr - 1].end;
		row.apart = false;
	}
	while (!r && row.address < range->end && !code_insn(code, row.address, &insn)) {
		row.end = row.address + insn.len;
		r = assembly_add_row(s, &row, at, end);
		row = (struct assembly_row){ .address = row.end };
	}
	return r;
}

int assembly_rows(struct assembly *s, const struct assembly_function *function,
		  struct code *code)
{
	const struct profile *p = s->a->p;
	size_t at = function->first_hit, end = at + function->nr_hits;
	int r = 0;

	rows_clear(s);
	if (code)
		code_mean(code, strtab_get(&p->strings,
					   p->functions.at[function->function].raw));
	while (!r && at < end) {
		struct assembly_row row = { .address = s->hits.at[at].address,
					    .no_code = true };
		struct assembly_range range;
		size_t before = at;

		if (code) {
			range = range_of(s, at, end, code);
			r = add_range(s, &range, code, &at, end);
		}
		if (r || at != before)
			continue;
		row.end = row.address + 1;
		r = assembly_add_row(s, &row, &at, end);
	}
	return r;
}

struct assembly_row *assembly_row_at(struct assembly *s, uint64_t address)
{
	size_t low = 0, high = s->rows.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->rows.at[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->rows.nr && s->rows.at[low].address == address ? &s->rows.at[low]
								      : NULL;
}
