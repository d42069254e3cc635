/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write_symbols.c - writes OProfile's --symbols and --details: one line per function, and below
 * it one line per address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "present/lines/options.h"
#include "present/text/quality_text.h"
#include "present/text/symbol_table.h"
#include "present/text/text_writers.h"

/* The address rows, grouped by function and sorted. */
struct details {
	struct profile *p;
	struct detail_keys keys;
	struct report_lines lines;
	uint32_t *order; /* indices of lines.all, by function and address */
	size_t *first;   /* start index by function number, plus the end */
	size_t nr_functions;
	uint64_t *sums; /* by column, within a function */
};

static uint64_t detail_address(const struct details *d, uint32_t line)
{
	return profile_value(d->p, d->lines.all.at[line].group, d->keys.vma);
}

static int write_symbols_compare_details(const void *a, const void *b, void *ctx)
{
	uint32_t line_a = *(const uint32_t *)a;
	uint32_t line_b = *(const uint32_t *)b;
	uint64_t at_a = detail_address(ctx, line_a);
	uint64_t at_b = detail_address(ctx, line_b);

	if (at_a != at_b)
		return at_a < at_b ? -1 : 1;
	return line_a < line_b ? -1 : line_a > line_b;
}

/* Sorts by address.  The lines are already sorted unless functions overlap. */
static void write_symbols_sort_details(struct details *d, size_t from, size_t end)
{
	uint64_t before = 0;

	for (size_t i = from; i < end; i++) {
		uint64_t address = detail_address(d, d->order[i]);

		if (address < before) {
			qsort_r(d->order + from, end - from, sizeof(*d->order),
				write_symbols_compare_details, d);
			return;
		}
		before = address;
	}
}

/* Groups the lines by function. */
static int order_details(struct details *d, const struct report_lines *functions)
{
	size_t nr = d->lines.all.nr;

	for (size_t i = 0; i < nr; i++) {
		size_t f = lines_number(functions, d->lines.all.at[i].group);

		if (f >= d->nr_functions)
			d->nr_functions = f + 1;
	}
	d->order = calloc(nr + 1, sizeof(*d->order));
	d->first = calloc(d->nr_functions + 2, sizeof(*d->first));
	if (!d->order || !d->first)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		d->first[lines_number(functions, d->lines.all.at[i].group) + 1]++;
	for (size_t f = 0; f < d->nr_functions; f++)
		d->first[f + 1] += d->first[f];
	/* After this loop, first[i] is the end of function i, which is the start of function i + 1
	 * ... */
	for (size_t i = 0; i < nr; i++) {
		size_t f = lines_number(functions, d->lines.all.at[i].group);

		d->order[d->first[f]++] = (uint32_t)i;
	}
	/* ... so restore the starts. */
	memmove(d->first + 1, d->first, d->nr_functions * sizeof(*d->first));
	d->first[0] = 0;
	for (size_t f = 0; f < d->nr_functions; f++)
		write_symbols_sort_details(d, d->first[f], d->first[f + 1]);
	return 0;
}

static int collect_details(struct details *d, struct text_table *t,
			   const struct symbol_keys *keys, struct err *err)
{
	struct present_options all = *t->options;
	int r;

	d->p = t->p;
	d->keys = (struct detail_keys){ keys->address, keys->detail_line };
	all.threshold = 0;
	r = lines_of_groups(t->p, &all, LINES_UNSORTED, CLASS_KEYS, &d->lines, err);
	if (r)
		return r;
	d->sums = calloc(d->lines.nr_columns + 1, sizeof(*d->sums));
	if (!d->sums || order_details(d, &t->lines))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

static void details_done(struct details *d)
{
	lines_done(&d->lines);
	free(d->order);
	free(d->first);
	free(d->sums);
}

/* Writes the addresses of a function.  Percentages refer to the function, or to the whole with
 * global_percent. */
static int write_details(struct text_table *t, FILE *out, struct details *d,
			 const struct line *function)
{
	const uint64_t *totals =
		t->options->global_percent ? t->lines.totals : function->counts;
	size_t end = d->first[function->number + 1];
	int r = 0;

	for (size_t c = 0; c < d->lines.nr_columns; c++)
		d->sums[c] = 0;
	for (size_t i = d->first[function->number]; !r && i < end; i++) {
		const struct line *line = &d->lines.all.at[d->order[i]];

		for (size_t c = 0; c < d->lines.nr_columns; c++)
			d->sums[c] += line->counts[c];
		r = text_table_detail(t, out, line, d->keys, totals, d->sums);
	}
	return r;
}

static int write_symbols_write_all(struct text_table *t, FILE *out, struct details *d,
				   const struct symbol_keys *keys)
{
	int r = symbol_table_choose(t, keys);

	if (!r)
		r = text_table_begin(t, out);
	for (size_t i = 0; !r && i < t->lines.all.nr; i++) {
		const struct line *line = &t->lines.all.at[i];

		r = text_table_line(t, out, line);
		if (!r && d->first)
			r = write_details(t, out, d, line);
	}
	if (!r)
		r = text_table_end(t, out);
	if (!r && t->options->quality)
		r = quality_write_text(out, t->p);
	return r;
}

int write_symbols(FILE *out, struct profile *p, const struct present_options *options,
		  struct err *err)
{
	struct text_table t = { .p = p, .options = options };
	struct details d = { 0 };
	struct symbol_keys keys;
	int r;

	if (symbol_table_keys(p, options, &keys))
		return err_set(err, -EINVAL,
			       "internal error: the profile lacks keys of this report");
	r = lines_of_groups(p, options, LINES_BY_FUNCTION,
			    CLASS_KEYS | 1u << KEY_ADDRESS | 1u << KEY_LINE |
				    1u << KEY_FUNCTION_LINE,
			    &t.lines, err);
	if (!r && options->details)
		r = collect_details(&d, &t, &keys, err);
	if (!r && write_symbols_write_all(&t, out, &d, &keys))
		r = err_set(err, -ENOMEM, "out of memory");
	details_done(&d);
	text_table_done(&t);
	return r;
}
