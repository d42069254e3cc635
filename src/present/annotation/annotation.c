/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/annotation/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "base/err.h"
#include "base/files/path.h"
#include "base/parse.h"
#include "present/annotation/priv.h"
#include "present/lines/columns.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/ratio.h"

static void annotation_add_counts(const struct annotation *a, uint64_t *to,
				  const uint64_t *counts)
{
	for (size_t c = 0; c < a->nr_counts; c++)
		to[c] += counts[c];
}

static uint64_t *new_counts(struct annotation *a)
{
	uint64_t *counts = &a->pool[a->pool_used];

	a->pool_used += a->nr_counts;
	return counts;
}

static int compare_counts(const struct annotation *a, const uint64_t *x,
			  const uint64_t *y)
{
	for (size_t c = 0; c < a->nr_counts; c++) {
		if (x[c] != y[c])
			return x[c] > y[c] ? -1 : 1;
	}
	return 0;
}

/* ---- files and lines ---- */

/* Returns the number of the string for a path, after normalizing it: "/src/../a.h" and "/a.h" are
 * the same file. STRTAB_FAILED if memory is short. */
static uint32_t annotation_name_of(struct making *m, const char *path, size_t len)
{
	struct strtab *strings = &m->a->p->strings;
	uint32_t name = strtab_add_len(strings, path, len);
	char *full;

	if (name == STRTAB_FAILED || path[0] != '/')
		return name;
	full = path_full(strtab_get(strings, name), "");
	name = full ? strtab_add(strings, full) : STRTAB_FAILED;
	free(full);
	return name;
}

uint32_t annotation_file(struct making *m, const char *path, size_t len)
{
	struct annotation *a = m->a;
	uint32_t name = annotation_name_of(m, path, len);
	struct annotated_file file = { .path = strtab_get(&a->p->strings, name) };
	struct map_slot *slot;
	bool is_new;

	slot = name == STRTAB_FAILED ? NULL : map_at(&m->file_by, name, 0, &is_new);
	if (!slot)
		return NONE;
	if (!is_new)
		return slot->value_plus_1 - 1;
	if (!vec_grow(&a->files))
		return NONE;
	file.counts = calloc(a->nr_counts + 1, sizeof(*file.counts));
	a->files.at[a->files.nr] = file;
	if (!file.counts)
		return NONE;
	a->files.nr++;
	slot->value_plus_1 = (uint32_t)a->files.nr;
	return slot->value_plus_1 - 1;
}

/* Parses "path:12".  A file known only from the symbol table ("name.c:0") counts as no line. */
static int parse_position(struct making *m, const char *text, struct hit *ret_position)
{
	uint32_t line;
	size_t len = parse_source_position(text, &line);

	*ret_position = (struct hit){ .file = NONE };
	if (!len || (!line && text[0] != '/'))
		return 0;
	ret_position->line = line;
	ret_position->file = annotation_file(m, text, len);
	return ret_position->file == NONE ? -ENOMEM : 0;
}

/* Parses a string of the profile; caches the result. */
static int annotation_position_of(struct making *m, uint64_t string,
				  struct hit *ret_position)
{
	struct map_slot *slot;
	bool is_new;

	slot = map_at(&m->position_by, string, 0, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		const char *text = strtab_get(&m->a->p->strings, (uint32_t)string);

		slot->value_plus_1 = (uint32_t)m->positions.nr + 1;
		if (parse_position(m, text, ret_position) ||
		    !vec_push(&m->positions, *ret_position))
			return -ENOMEM;
	} else {
		*ret_position = m->positions.at[slot->value_plus_1 - 1];
	}
	return 0;
}

static uint64_t annotation_value_of(const struct making *m, size_t group, size_t key)
{
	const struct annotation *a = m->a;

	return profile_value(a->p, a->groups.all.at[group].group, key);
}

/* ---- functions ---- */

struct ranked {
	const uint64_t *counts;
	size_t function;
};

static int compare_ranked(const void *x, const void *y, void *ctx)
{
	const struct ranked *a = x, *b = y;
	int order = compare_counts(ctx, a->counts, b->counts);

	if (order)
		return order;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int choose_top(struct making *m, size_t top)
{
	struct annotation *a = m->a;
	size_t nr = a->p->functions.nr;
	struct ranked *all;

	if (!top)
		return 0;
	all = calloc(nr + 1, sizeof(*all));
	m->top = calloc(nr + 1, sizeof(*m->top));
	if (!all || !m->top) {
		free(all);
		return -ENOMEM;
	}
	for (size_t f = 0; f < nr; f++)
		all[f] = (struct ranked){ &a->functions[f * a->nr_counts], f };
	qsort_r(all, nr, sizeof(*all), compare_ranked, a);
	for (size_t i = 0; i < nr && i < top; i++)
		m->top[all[i].function] = 1;
	free(all);
	return 0;
}

static int sum_functions(struct making *m)
{
	struct annotation *a = m->a;
	size_t nr = a->p->functions.nr;

	a->functions = calloc((nr + 1) * a->nr_counts + 1, sizeof(*a->functions));
	if (!a->functions)
		return -ENOMEM;
	for (size_t i = 0; i < a->groups.all.nr; i++) {
		uint64_t f = annotation_value_of(m, i, m->symbol_key);

		if (f < nr)
			annotation_add_counts(a, &a->functions[f * a->nr_counts],
					      a->groups.all.at[i].counts);
	}
	return 0;
}

/* ---- samples ---- */

static int add_rest(struct annotation *a, uint32_t image, const uint64_t *counts)
{
	size_t i = 0;

	while (i < a->rest.nr && a->rest.at[i].image != image)
		i++;
	if (i == a->rest.nr) {
		struct annotated_rest rest = { .image = image,
					       .counts = new_counts(a) };

		if (!vec_push(&a->rest, rest))
			return -ENOMEM;
	}
	annotation_add_counts(a, a->rest.at[i].counts, counts);
	annotation_add_counts(a, a->without_line, counts);
	return 0;
}

static int take_group(struct making *m, size_t i)
{
	struct annotation *a = m->a;
	const uint64_t *counts = a->groups.all.at[i].counts;
	uint64_t function = annotation_value_of(m, i, m->symbol_key);
	uint32_t image = (uint32_t)annotation_value_of(m, i, m->image_key);
	struct hit hit;

	if (m->top && (function >= a->p->functions.nr || !m->top[function])) {
		annotation_add_counts(a, a->other, counts);
		return 0;
	}
	if (annotation_position_of(m, annotation_value_of(m, i, m->line_key), &hit))
		return -ENOMEM;
	if (hit.file == NONE)
		return add_rest(a, image, counts);
	if (map_set(&m->covered, image, 0, 1))
		return -ENOMEM;
	hit.group = (uint32_t)i;
	return vec_push(&m->hits, hit) ? 0 : -ENOMEM;
}

static int annotation_compare_hits(const void *x, const void *y)
{
	const struct hit *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

/* Notes the image with most of a file's samples.  Usually all samples are from the same image. */
static void note_image(const struct making *m, struct annotated_file *file,
		       const struct hit *hit)
{
	uint32_t image = (uint32_t)annotation_value_of(m, hit->group, m->image_key);
	uint64_t samples = m->a->groups.all.at[hit->group].counts[0];

	if (!file->image || file->image == image) {
		file->image = image;
		file->image_samples += samples;
	} else if (samples > file->image_samples) {
		file->image = image;
		file->image_samples = samples;
	}
}

static int annotation_make_lines(struct making *m)
{
	struct annotation *a = m->a;
	const struct hit *last = NULL;
	uint64_t *counts = NULL;

	if (m->hits.nr)
		qsort(m->hits.at, m->hits.nr, sizeof(*m->hits.at),
		      annotation_compare_hits);
	if (!vec_reserve(&a->all_lines, m->hits.nr + 1))
		return -ENOMEM;
	for (size_t i = 0; i < m->hits.nr; i++) {
		const struct hit *hit = &m->hits.at[i];
		struct annotated_file *file = &a->files.at[hit->file];

		if (!last || last->file != hit->file)
			file->lines = &a->all_lines.at[a->all_lines.nr];
		if (!last || last->file != hit->file || last->line != hit->line) {
			counts = new_counts(a);
			a->all_lines.at[a->all_lines.nr++] =
				(struct annotated_line){ hit->line, counts };
			file->nr_lines++;
		}
		annotation_add_counts(a, counts, a->groups.all.at[hit->group].counts);
		annotation_add_counts(a, file->counts,
				      a->groups.all.at[hit->group].counts);
		note_image(m, file, hit);
		last = hit;
	}
	return 0;
}

/* ---- where functions begin ---- */

static int compare_starts(const void *x, const void *y, void *ctx)
{
	const struct annotated_start *a = x, *b = y;
	int order;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	order = compare_counts(ctx, a->counts, b->counts);
	if (order)
		return order;
	return a->function < b->function ? -1 : a->function > b->function;
}

static int collect_starts(struct making *m, bool *seen)
{
	struct annotation *a = m->a;

	for (size_t i = 0; i < a->groups.all.nr; i++) {
		uint64_t f = annotation_value_of(m, i, m->symbol_key);
		struct annotated_start start;
		struct hit position;

		if (f >= a->p->functions.nr || seen[f] || (m->top && !m->top[f]))
			continue;
		seen[f] = true;
		if (annotation_position_of(m, annotation_value_of(m, i, m->start_key),
					   &position))
			return -ENOMEM;
		if (position.file == NONE || !position.line)
			continue;
		start = (struct annotated_start){
			.file = position.file,
			.line = position.line,
			.function = (uint32_t)f,
			.counts = &a->functions[f * a->nr_counts],
		};
		if (!a->files.at[position.file].image)
			a->files.at[position.file].image =
				(uint32_t)annotation_value_of(m, i, m->image_key);
		if (!vec_push(&a->all_starts, start))
			return -ENOMEM;
	}
	return 0;
}

static int make_starts(struct making *m)
{
	struct annotation *a = m->a;
	bool *seen = calloc(a->p->functions.nr + 1, sizeof(*seen));
	int r = seen ? collect_starts(m, seen) : -ENOMEM;

	free(seen);
	if (r || !a->all_starts.nr)
		return r;
	qsort_r(a->all_starts.at, a->all_starts.nr, sizeof(*a->all_starts.at),
		compare_starts, a);
	for (size_t i = 0; i < a->all_starts.nr; i++) {
		struct annotated_file *file = &a->files.at[a->all_starts.at[i].file];

		if (!file->nr_starts++)
			file->starts = &a->all_starts.at[i];
	}
	return 0;
}

/* ---- all of it ---- */

static int annotation_compare_files(const void *x, const void *y, void *ctx)
{
	const struct annotated_file *a = x, *b = y;
	int order = compare_counts(ctx, a->counts, b->counts);

	return order ? order : strcmp(a->path, b->path);
}

static int compare_rest(const void *x, const void *y, void *ctx)
{
	const struct annotated_rest *a = x, *b = y;
	const struct annotation *of = ctx;
	int order = compare_counts(of, a->counts, b->counts);

	return order ? order
		     : strcmp(strtab_get(&of->p->strings, a->image),
			      strtab_get(&of->p->strings, b->image));
}

/* Allocates the counts of all lines and images, and of two sums.  Each group needs at most one
 * line and one image. */
static int make_pool(struct annotation *a)
{
	size_t nr = a->groups.all.nr * 2 + 2;

	a->pool = calloc(nr * a->nr_counts + 1, sizeof(*a->pool));
	if (!a->pool)
		return -ENOMEM;
	a->without_line = new_counts(a);
	a->other = new_counts(a);
	return 0;
}

/* Adds up the samples of functions that `top` excludes. Used if only code is annotated. Returns
 * 0. */
static int add_others(struct making *m)
{
	struct annotation *a = m->a;

	for (size_t i = 0; m->top && i < a->groups.all.nr; i++) {
		uint64_t f = annotation_value_of(m, i, m->symbol_key);

		if (f >= a->p->functions.nr || !m->top[f])
			annotation_add_counts(a, a->other, a->groups.all.at[i].counts);
	}
	return 0;
}

static int annotation_build(struct making *m, const struct annotation_options *options)
{
	struct annotation *a = m->a;
	int r = make_pool(a);

	if (!r)
		r = sum_functions(m);
	if (!r)
		r = choose_top(m, options->top);
	if (!r && m->no_lines)
		return add_others(m);
	for (size_t i = 0; !r && i < a->groups.all.nr; i++)
		r = take_group(m, i);
	if (!r)
		r = annotation_make_lines(m);
	if (!r)
		r = make_starts(m);
	if (!r && options->code_of)
		r = annotation_make_sites(m, options);
	if (!r && a->files.nr)
		qsort_r(a->files.at, a->files.nr, sizeof(*a->files.at),
			annotation_compare_files, a);
	for (size_t i = 0; i < a->rest.nr; i++)
		a->rest.at[i].has_lines =
			map_get(&m->covered, a->rest.at[i].image, 0) != MAP_NONE;
	if (!r && a->rest.nr)
		qsort_r(a->rest.at, a->rest.nr, sizeof(*a->rest.at), compare_rest, a);
	return r;
}

static bool annotation_find_keys(struct making *m)
{
	const struct key_list *keys = m->a->p->options.keys;
	int image = keys_find(keys, KEY_IMAGE), symbol = keys_find(keys, KEY_SYMBOL);
	int start = keys_find(keys, KEY_FUNCTION_LINE),
	    line = keys_find(keys, KEY_LINE);

	m->image_key = (size_t)image;
	m->symbol_key = (size_t)symbol;
	m->start_key = (size_t)start;
	m->line_key = (size_t)line;
	m->no_lines = start < 0 || line < 0;
	return image >= 0 && symbol >= 0;
}

static bool has_skid(const struct annotation *a)
{
	for (size_t c = 0; c < a->nr_columns; c++) {
		uint32_t event = a->groups.classes.columns.at[c].event;

		if (!(a->p->events.at[event].flags & EVENT_PRECISE))
			return true;
	}
	return false;
}

/* Finds the ratios that the columns can form, and appends the periods of all columns to the
 * counts.  Returns 0 or -ENOMEM. */
static int annotation_add_periods(struct annotation *a,
				  const struct present_options *options)
{
	size_t nr = a->nr_columns;
	size_t nr_lines = a->groups.all.nr;
	uint64_t *wide, *totals;

	for (size_t i = 0; i < options->nr_ratios; i++) {
		struct ratio ratio;

		if (!ratio_find(a->p, &a->groups, options->ratios[i], &ratio) &&
		    !vec_push(&a->ratios, ratio))
			return -ENOMEM;
	}
	if (!a->groups.periods)
		a->ratios.nr = 0;
	if (!a->ratios.nr)
		return 0;
	a->nr_counts = 2 * nr;
	wide = calloc(nr_lines * 2 * nr + 1, sizeof(*wide));
	totals = calloc(2 * nr + 1, sizeof(*totals));
	if (!wide || !totals) {
		free(wide);
		free(totals);
		return -ENOMEM;
	}
	memcpy(totals, a->groups.totals, nr * sizeof(*totals));
	for (size_t i = 0; i < nr_lines; i++) {
		struct line *line = &a->groups.all.at[i];
		size_t from = line->number * nr;

		for (size_t c = 0; c < nr; c++) {
			uint64_t period = a->groups.periods[from + c];

			wide[i * 2 * nr + c] = line->counts[c];
			wide[i * 2 * nr + nr + c] = period;
			totals[nr + c] += period;
		}
		line->counts = &wide[i * 2 * nr];
	}
	free(a->groups.counts);
	a->groups.counts = wide;
	free(a->groups.totals);
	a->groups.totals = totals;
	return 0;
}

int annotation_make(struct annotation *a, struct profile *p,
		    const struct annotation_options *options, struct err *err)
{
	struct present_options all = *options->present;
	struct making m = { .a = a };
	int r;

	*a = (struct annotation){ .p = p };
	if (!annotation_find_keys(&m))
		return err_set(err, -EINVAL,
			       "internal error: the profile lacks keys of this report");
	all.threshold = 0;
	r = lines_of_groups(p, &all, LINES_UNSORTED, CLASS_KEYS | 1u << KEY_APP,
			    &a->groups, err);
	if (r)
		return r;
	a->nr_columns = a->groups.nr_columns;
	a->nr_counts = a->nr_columns;
	if (options->present->nr_ratios && annotation_add_periods(a, options->present))
		return err_set(err, -ENOMEM, "out of memory");
	a->has_skid = has_skid(a);
	r = annotation_build(&m, options);
	map_done(&m.file_by);
	map_done(&m.position_by);
	map_done(&m.covered);
	vec_done(&m.positions);
	vec_done(&m.hits);
	free(m.top);
	return r ? err_set(err, -ENOMEM, "out of memory") : 0;
}

void annotation_done(struct annotation *a)
{
	lines_done(&a->groups);
	for (size_t i = 0; i < a->files.nr; i++)
		free(a->files.at[i].counts);
	for (size_t i = 0; i < a->all_sites.nr; i++)
		free(a->all_sites.at[i].counts);
	vec_done(&a->all_sites);
	vec_done(&a->files);
	vec_done(&a->rest);
	vec_done(&a->all_lines);
	vec_done(&a->all_starts);
	free(a->functions);
	free(a->pool);
	vec_done(&a->ratios);
	*a = (struct annotation){ 0 };
}

void annotation_put_ratio(const struct annotation *a, const uint64_t *counts,
			  size_t ratio, struct buf *out)
{
	const struct column_cell cell = { .periods = counts + a->nr_columns,
					  .ratios = a->ratios.at,
					  .at = ratio };

	ratio_print(out, &cell);
}

bool annotation_reaches(const struct annotation *a, const uint64_t *counts,
			double threshold)
{
	return percent_reached(counts, a->groups.totals, a->nr_columns, threshold);
}

bool annotation_hottest(const struct annotation *a, size_t *ret_file,
			uint32_t *ret_line)
{
	const uint64_t *most = NULL;

	for (size_t f = 0; f < a->files.nr; f++) {
		const struct annotated_file *file = &a->files.at[f];

		for (size_t i = 0; i < file->nr_lines; i++) {
			if (most && compare_counts(a, file->lines[i].counts, most) >= 0)
				continue;
			most = file->lines[i].counts;
			*ret_file = f;
			*ret_line = file->lines[i].line;
		}
	}
	return most;
}
