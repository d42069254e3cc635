/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "present/text/write_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "aggregate/profile/profile.h"
#include "aggregate/selection/image_names.h"
#include "base/containers/hash.h"
#include "base/containers/map.h"
#include "base/err.h"
#include "present/lines/columns.h"
#include "present/lines/json.h"
#include "present/lines/lines.h"
#include "present/lines/options.h"
#include "present/lines/percent.h"
#include "present/lines/screen.h"
#include "present/text/csv.h"
#include "present/text/header.h"
#include "present/text/symbol_table.h"

enum {
	WIDTH_VMA = 9,
	WIDTH_SAMPLES = 9,
	WIDTH_PERCENT = 9,
	WIDTH_DIFF = 10,
	WIDE_ADDRESS = 16
};

/* One of the two profiles. */
struct diff_side {
	struct profile *p;
	struct report_lines lines;
	struct symbol_keys keys;
	bool show_image;
	bool show_app;
};

/* A function: a line of the second profile, of the first, or of both. */
struct diff_row {
	/* The side that the row is shown from: the second one if the function is in both. */
	const struct diff_side *side;
	const struct line *line;
	/* The function's line in the first profile; NULL: the function is new. */
	const struct line *before;
	bool vanished;
};

struct diff_table {
	struct diff_side before, after;
	const struct present_options *options;
	VEC(struct diff_row) rows;
	unsigned int vma_digits;
	bool show_image, show_app;
	struct buf text;
};

static int diff_read_side(struct diff_side *s, const struct present_options *options,
			  struct err *err)
{
	const struct profile *p = s->p;
	int r;

	if (symbol_table_keys(p, options, &s->keys))
		return err_set(err, -EINVAL,
			       "internal error: the profile lacks keys of this report");
	r = lines_of_groups(s->p, options, LINES_BY_FUNCTION,
			    CLASS_KEYS | 1u << KEY_FUNCTION_LINE, &s->lines, err);
	for (size_t i = 0; !r && i < s->lines.all.nr; i++) {
		uint32_t group = s->lines.all.at[i].group;
		uint64_t image = profile_value(p, group, s->keys.image);
		uint64_t app = profile_value(p, group, s->keys.app);

		s->show_image |= image != app;
		s->show_app |=
			app != profile_value(p, s->lines.all.at[0].group, s->keys.app);
	}
	return r;
}

static const char *diff_text(const struct diff_side *s, const struct line *line,
			     size_t key)
{
	return profile_text(s->p, line->group, key);
}

static uint64_t diff_hash_text(uint64_t seed, const char *text)
{
	return hash_bytes(text, strlen(text), seed);
}

static uint64_t diff_hash(const struct diff_side *s, const struct line *line)
{
	uint64_t hash = diff_hash_text(0, diff_text(s, line, s->keys.image));

	hash = diff_hash_text(hash, diff_text(s, line, s->keys.app));
	return diff_hash_text(hash, diff_text(s, line, s->keys.symbol));
}

static bool diff_is_same(const struct diff_table *t, const struct line *before,
			 const struct line *after)
{
	const struct diff_side *a = &t->before, *b = &t->after;

	return !strcmp(diff_text(a, before, a->keys.image),
		       diff_text(b, after, b->keys.image)) &&
	       !strcmp(diff_text(a, before, a->keys.app),
		       diff_text(b, after, b->keys.app)) &&
	       !strcmp(diff_text(a, before, a->keys.symbol),
		       diff_text(b, after, b->keys.symbol));
}

/* Finds the line of the first profile for a function of the second one.  Returns its index, or
 * MAP_NONE. */
static uint32_t diff_find(const struct diff_table *t, const struct map *by,
			  const uint8_t *used, const struct line *after)
{
	uint64_t hash = diff_hash(&t->after, after);

	for (uint64_t turn = 0;; turn++) {
		uint32_t at = map_get(by, hash, turn);

		/* Functions of one name at several addresses are matched in their order. */
		if (at == MAP_NONE ||
		    (!used[at] && diff_is_same(t, &t->before.lines.all.at[at], after)))
			return at;
	}
}

static int diff_index(const struct diff_side *s, struct map *by)
{
	for (uint32_t i = 0; i < s->lines.all.nr; i++) {
		uint64_t hash = diff_hash(s, &s->lines.all.at[i]);
		uint64_t turn = 0;

		while (map_get(by, hash, turn) != MAP_NONE)
			turn++;
		if (map_set(by, hash, turn, i))
			return -ENOMEM;
	}
	return 0;
}

/* Pairs the functions: first those of the second profile, then those that vanished. */
static int diff_pair(struct diff_table *t)
{
	const struct report_lines *before = &t->before.lines, *after = &t->after.lines;
	uint8_t *used = calloc(before->all.nr + 1, 1);
	struct map by = { 0 };
	int r = used ? diff_index(&t->before, &by) : -ENOMEM;

	for (size_t i = 0; !r && i < after->all.nr; i++) {
		const struct line *line = &after->all.at[i];
		uint32_t at = diff_find(t, &by, used, line);
		struct diff_row row = { .side = &t->after, .line = line };

		if (at != MAP_NONE) {
			used[at] = 1;
			row.before = &before->all.at[at];
		}
		r = vec_push(&t->rows, row) ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !r && i < before->all.nr; i++) {
		struct diff_row row = { .side = &t->before,
					.line = &before->all.at[i],
					.vanished = true };

		if (!used[i] && !vec_push(&t->rows, row))
			r = -ENOMEM;
	}
	map_done(&by);
	free(used);
	return r;
}

static int diff_compare_texts(const struct diff_row *a, const struct diff_row *b,
			      size_t key_a, size_t key_b, bool base)
{
	const char *x = diff_text(a->side, a->line, key_a);
	const char *y = diff_text(b->side, b->line, key_b);

	return base ? strcmp(image_name_short(x), image_name_short(y)) : strcmp(x, y);
}

/* Sorts by samples, image, application and symbol. */
static int diff_compare(const void *va, const void *vb)
{
	const struct diff_row *a = va, *b = vb;
	const struct symbol_keys *x = &a->side->keys, *y = &b->side->keys;
	int r;

	if (a->line->counts[0] != b->line->counts[0])
		return a->line->counts[0] > b->line->counts[0] ? -1 : 1;
	r = diff_compare_texts(a, b, x->image, y->image, true);
	if (!r)
		r = diff_compare_texts(a, b, x->app, y->app, true);
	if (!r)
		r = diff_compare_texts(a, b, x->symbol, y->symbol, false);
	if (!r)
		r = a->vanished - b->vanished;
	if (!r && a->side == b->side)
		r = a->line < b->line ? -1 : a->line > b->line;
	return r;
}

/* Sorts the rows.  With --sort, they keep the order of the second profile; otherwise they are in
 * OProfile's order, by samples. */
static void diff_sort(struct diff_table *t)
{
	size_t nr = t->rows.nr;

	if (!t->options->order.nr && nr)
		qsort(t->rows.at, nr, sizeof(*t->rows.at), diff_compare);
	if (!t->options->order.nr && t->options->reverse)
		for (size_t i = 0; i < nr / 2; i++) {
			struct diff_row row = t->rows.at[i];

			t->rows.at[i] = t->rows.at[nr - 1 - i];
			t->rows.at[nr - 1 - i] = row;
		}
}

static void diff_choose(struct diff_table *t)
{
	const struct diff_side *sides[] = { &t->before, &t->after };

	t->vma_digits = 8;
	for (int s = 0; s < 2; s++) {
		t->show_image |= sides[s]->show_image;
		t->show_app |= sides[s]->show_app;
		for (size_t i = 0; i < sides[s]->lines.all.nr; i++) {
			uint64_t f = profile_value(sides[s]->p,
						   sides[s]->lines.all.at[i].group,
						   sides[s]->keys.symbol);

			if (sides[s]->p->functions.nr > f && t->options->show_vma &&
			    sides[s]->p->functions.at[f].vma > UINT32_MAX)
				t->vma_digits = WIDE_ADDRESS;
		}
	}
}

/* Both sides must have the same classes; the unit mask can differ. */
static int diff_check_classes(const struct diff_table *t, struct err *err)
{
	const struct report_lines *a = &t->before.lines, *b = &t->after.lines;
	struct buf x = { 0 }, y = { 0 };
	bool same = a->nr_columns == b->nr_columns;

	for (size_t i = 0; same && i < a->nr_columns; i++) {
		buf_clear(&x);
		buf_clear(&y);
		classes_put_title(&a->classes, i, &x);
		classes_put_title(&b->classes, i, &y);
		same = !x.failed && !y.failed && x.len == y.len &&
		       !memcmp(x.data, y.data, x.len);
	}
	buf_done(&x);
	buf_done(&y);
	return same ? 0
		    : err_set(err, -EINVAL,
			      "profile classes are incompatible: both sides need the same events, counts and separation");
}

/* ---- the change ---- */

static double diff_change(uint64_t before, uint64_t after)
{
	if (before == after)
		return 0;
	return before ? ((double)after - (double)before) * 100 / (double)before : 100;
}

/* Formats a change like percent_format(), with a sign unless it is 0. */
static void diff_format(double change, char ret_text[PERCENT_MAX + 1])
{
	char text[PERCENT_MAX];
	const char *digits;

	percent_format(change < 0 ? -change : change, text);
	digits = text + strspn(text, " ");
	if (change == 0)
		snprintf(ret_text, PERCENT_MAX + 1, "%s", text);
	else
		snprintf(ret_text, PERCENT_MAX + 1, "%c%.*s", change < 0 ? '-' : '+',
			 PERCENT_MAX - 1, digits);
}

/* ---- text ---- */

/* Appends a cell, padded to its width and at least one blank. */
static void diff_put_cell(struct diff_table *t, const char *text, unsigned int width)
{
	size_t len = strlen(text);

	buf_put(&t->text, text, len);
	do
		buf_put_u8(&t->text, ' ');
	while (++len < width);
}

static void diff_put_titles(struct diff_table *t)
{
	if (t->options->show_vma)
		diff_put_cell(t, "vma",
			      t->vma_digits == WIDE_ADDRESS ? WIDE_ADDRESS + 1
							    : WIDTH_VMA);
	for (size_t c = 0; c < t->after.lines.nr_columns; c++) {
		diff_put_cell(t, "samples", WIDTH_SAMPLES);
		diff_put_cell(t, "%", WIDTH_PERCENT);
		diff_put_cell(t, "diff %", WIDTH_DIFF);
	}
	if (t->options->debug_info)
		diff_put_cell(t, "linenr info", column_find("linenr")->width);
	if (t->show_image)
		diff_put_cell(t, "image name", column_find("image")->width);
	if (t->show_app)
		diff_put_cell(t, "app name", column_find("app")->width);
	buf_put(&t->text, "symbol name\n", strlen("symbol name\n"));
}

/* Appends the cell of a column that shows a key. */
static void diff_put_key(struct diff_table *t, const struct diff_row *row,
			 const char *name, size_t key, bool is_last)
{
	const struct column *column = column_find(name);
	struct column_cell cell = { .profile = row->side->p,
				    .options = t->options,
				    .group = row->line->group,
				    .vma_digits = t->vma_digits,
				    .at = key };
	struct buf text = { 0 };

	column->print(&text, &cell);
	screen_make_safe(&text, 0);
	buf_put_u8(&text, 0);
	if (text.failed)
		t->text.failed = true;
	else if (is_last)
		buf_put(&t->text, text.data, text.len - 1);
	else
		diff_put_cell(t, (const char *)text.data, column->width);
	buf_done(&text);
}

static void diff_put_counts(struct diff_table *t, const struct diff_row *row, size_t c)
{
	char count[24], percent[PERCENT_MAX], change[PERCENT_MAX + 1];
	uint64_t samples = row->line->counts[c];

	snprintf(count, sizeof(count), "%" PRIu64, samples);
	diff_put_cell(t, count, WIDTH_SAMPLES);
	if (row->vanished) {
		diff_put_cell(t, "---", WIDTH_PERCENT);
		diff_put_cell(t, "---", WIDTH_DIFF);
		return;
	}
	percent_format(percent_of(samples, t->after.lines.totals[c]), percent);
	diff_put_cell(t, percent, WIDTH_PERCENT);
	if (row->before)
		diff_format(diff_change(row->before->counts[c], samples), change);
	diff_put_cell(t, row->before ? change : "+++", WIDTH_DIFF);
}

static void diff_put_row(struct diff_table *t, const struct diff_row *row)
{
	const struct symbol_keys *keys = &row->side->keys;

	if (t->options->show_vma)
		diff_put_key(t, row, "vma", keys->symbol, false);
	for (size_t c = 0; c < t->after.lines.nr_columns; c++)
		diff_put_counts(t, row, c);
	if (t->options->debug_info)
		diff_put_key(t, row, "linenr", keys->line, false);
	if (t->show_image)
		diff_put_key(t, row, "image", keys->image, false);
	if (t->show_app)
		diff_put_key(t, row, "app", keys->app, false);
	diff_put_key(t, row, "symbol", keys->symbol, true);
	buf_put_u8(&t->text, '\n');
}

static void diff_write_text(FILE *out, struct diff_table *t)
{
	if (!t->options->no_header) {
		header_write(out, t->after.p, &t->after.lines);
		diff_put_titles(t);
	}
	for (size_t i = 0; i < t->rows.nr && !t->text.failed; i++)
		diff_put_row(t, &t->rows.at[i]);
	fwrite(t->text.data, 1, t->text.len, out);
}

/* ---- CSV and JSON ---- */

static const char *diff_column_title(struct buf *title, const struct diff_table *t,
				     size_t c)
{
	buf_clear(title);
	classes_put_title(&t->after.lines.classes, c, title);
	buf_put_u8(title, 0);
	return title->failed ? "" : (const char *)title->data;
}

static uint64_t diff_count(const struct diff_row *row, size_t c, bool after)
{
	if (after)
		return row->vanished ? 0 : row->line->counts[c];
	if (row->vanished)
		return row->line->counts[c];
	return row->before ? row->before->counts[c] : 0;
}

static void diff_put_field(struct buf *out, const char *text)
{
	csv_put_field(out, text, strlen(text));
	buf_put_u8(out, ',');
}

static void diff_write_csv(FILE *out, struct diff_table *t)
{
	static const char titles[] = "app,image,symbol,event,before,after,diff\n";
	struct buf title = { 0 };
	char numbers[96];

	buf_put(&t->text, titles, sizeof(titles) - 1);
	for (size_t i = 0; i < t->rows.nr; i++) {
		const struct diff_row *row = &t->rows.at[i];
		const struct symbol_keys *keys = &row->side->keys;

		for (size_t c = 0; c < t->after.lines.nr_columns; c++) {
			uint64_t before = diff_count(row, c, false);
			uint64_t after = diff_count(row, c, true);

			diff_put_field(&t->text,
				       diff_text(row->side, row->line, keys->app));
			diff_put_field(&t->text,
				       diff_text(row->side, row->line, keys->image));
			diff_put_field(&t->text,
				       diff_text(row->side, row->line, keys->symbol));
			diff_put_field(&t->text, diff_column_title(&title, t, c));
			if (row->before)
				snprintf(numbers, sizeof(numbers),
					 "%" PRIu64 ",%" PRIu64 ",%.4f\n", before,
					 after, diff_change(before, after));
			else
				snprintf(numbers, sizeof(numbers),
					 "%" PRIu64 ",%" PRIu64 ",\n", before, after);
			buf_put(&t->text, numbers, strlen(numbers));
		}
	}
	buf_done(&title);
	fwrite(t->text.data, 1, t->text.len, out);
}

static void diff_write_json_row(struct json *j, const struct diff_table *t,
				const struct diff_row *row, size_t c)
{
	const struct symbol_keys *keys = &row->side->keys;
	struct buf title = { 0 };
	char number[48];

	json_begin_object(j);
	json_member_text(j, "app", diff_text(row->side, row->line, keys->app));
	json_member_text(j, "image", diff_text(row->side, row->line, keys->image));
	json_member_text(j, "symbol", diff_text(row->side, row->line, keys->symbol));
	json_member_text(j, "event", diff_column_title(&title, t, c));
	json_member_u64(j, "before", diff_count(row, c, false));
	json_member_u64(j, "after", diff_count(row, c, true));
	if (row->before) {
		snprintf(number, sizeof(number), "%.4f",
			 diff_change(row->before->counts[c], row->line->counts[c]));
		json_name(j, "diff");
		json_number(j, number);
	}
	json_end_object(j);
	buf_done(&title);
}

static void diff_write_json(FILE *out, const struct diff_table *t)
{
	struct json j = { .out = out };

	json_begin_object(&j);
	json_member_text(&j, "schema", "oprofile-diff/1");
	json_name(&j, "rows");
	json_begin_array(&j);
	for (size_t i = 0; i < t->rows.nr; i++)
		for (size_t c = 0; c < t->after.lines.nr_columns; c++)
			diff_write_json_row(&j, t, &t->rows.at[i], c);
	json_end_array(&j);
	json_end_object(&j);
	fputc('\n', out);
}

int write_diff(FILE *out, const struct diff_sides *sides, enum diff_form form,
	       const struct present_options *options, struct err *err)
{
	struct diff_table t = { .before = { .p = sides->before },
				.after = { .p = sides->after },
				.options = options };
	int r = diff_read_side(&t.before, options, err);

	if (!r)
		r = diff_read_side(&t.after, options, err);
	if (!r)
		r = diff_check_classes(&t, err);
	if (!r && diff_pair(&t))
		r = err_set(err, -ENOMEM, "out of memory");
	if (!r) {
		diff_sort(&t);
		diff_choose(&t);
		if (form == DIFF_TEXT)
			diff_write_text(out, &t);
		else if (form == DIFF_CSV)
			diff_write_csv(out, &t);
		else
			diff_write_json(out, &t);
		if (t.text.failed)
			r = err_set(err, -ENOMEM, "out of memory");
	}
	lines_done(&t.before.lines);
	lines_done(&t.after.lines);
	vec_done(&t.rows);
	buf_done(&t.text);
	return r;
}
