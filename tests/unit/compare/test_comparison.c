/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "unit.h"

enum {
	BLOCKS = 50
};

/* A run's image with functions f0, f1 ... that have these samples in every block. */
struct made_image {
	const char *path;
	uint8_t build; /* build-id; 0: none */
	const double *counts;
	size_t nr;
	const char *prefix; /* of the functions' names; NULL: they have none */
};

static uint32_t text(struct comparison *c, const char *s)
{
	uint32_t number = strtab_add(&c->strings, s);

	assert_int_not_equal(number, STRTAB_FAILED);
	return number;
}

static void add_image(struct comparison *c, struct compare_run *run,
		      const struct made_image *from)
{
	struct run_image image = { .name = text(c, from->path) };
	const uint32_t number = (uint32_t)run->images.nr;

	image.build_id.len = from->build ? 1 : 0;
	image.build_id.bytes[0] = from->build;
	for (size_t i = 0; i < from->nr; i++) {
		struct run_item item = { .image = number };
		char name[32];

		snprintf(name, sizeof(name), "%s%zu",
			 from->prefix ? from->prefix : "0x", i);
		item.name = text(c, name);
		item.function = from->prefix ? item.name : 0;
		item.samples = from->counts[i] * BLOCKS;
		image.samples += item.samples;
		for (uint32_t b = 0; b < BLOCKS; b++) {
			/* The count is the given one on average, but not in each block. */
			const double count =
				from->counts[i] +
				((b + i) % 2 ? 1 : -1) * fmin(from->counts[i], 1);
			const struct run_cell cell = { (uint32_t)run->items.nr, b,
						       count };

			assert_true(vec_push(&run->cells, cell));
			run->blocks.at[b] += count;
		}
		assert_true(vec_push(&run->items, item));
	}
	run->samples += image.samples;
	assert_true(vec_push(&run->images, image));
}

static void add_run(struct comparison *c, enum compare_side side,
		    const struct made_image *images, size_t nr)
{
	struct compare_run *run = comparison_add_run(c, side, "run");

	assert_non_null(run);
	for (size_t i = 0; i < BLOCKS; i++)
		assert_true(vec_push(&run->blocks, 0.0));
	for (size_t i = 0; i < nr; i++)
		add_image(c, run, &images[i]);
}

static struct comparison begin(bool by_image)
{
	const struct comparison_options options = { .confidence = 0.95,
						    .discovery = 0.05,
						    .by_image = by_image };
	struct comparison c;

	assert_int_equal(comparison_init(&c, &options), 0);
	return c;
}

static const struct compare_row *row_of(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->rows.nr; i++)
		if (!strcmp(strtab_get(&c->strings, c->rows.at[i].name), name))
			return &c->rows.at[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* Compares one image with another; returns the number of images that remain. */
static size_t nr_images_of(const struct made_image *a, const struct made_image *b)
{
	struct comparison c = begin(true);
	size_t nr;

	add_run(&c, SIDE_BASE, a, 1);
	add_run(&c, SIDE_NEW, b, 1);
	assert_int_equal(comparison_finish(&c), 0);
	nr = c.images.nr;
	assert_int_equal(c.rows.nr, nr);
	comparison_done(&c);
	return nr;
}

static void images_are_found_again(void **state)
{
	static const double counts[] = { 10, 5, 2 }, others[] = { 9, 6, 2 };
	static const struct {
		struct made_image base, new;
		size_t nr;
	} rows[] = {
		/* an image has the same path, but was rebuilt */
		{ { "/a/prog", 1, counts, 3, "f" },
		  { "/a/prog", 2, others, 3, "g" },
		  1 },
		/* an image is the same file under another name */
		{ { "/a/x", 1, counts, 3, "f" }, { "/b/y", 1, others, 3, "g" }, 1 },
		/* an image was moved */
		{ { "/a/prog", 1, counts, 3, "f" },
		  { "/b/prog", 2, others, 3, "g" },
		  1 },
		/* an image is another version of the library */
		{ { "/l/libz.so.1.2.3", 1, counts, 3, "f" },
		  { "/l/libz.so.1.3", 2, others, 3, "g" },
		  1 },
		/* an image was renamed, but has the same functions */
		{ { "/a/slow", 1, counts, 3, "f" },
		  { "/b/fast", 2, others, 3, "f" },
		  1 },
		/* an image is another program */
		{ { "/a/slow", 1, counts, 3, "f" },
		  { "/b/fast", 2, others, 3, "g" },
		  2 },
		/* functions without names do not say that two programs are the same */
		{ { "/a/slow", 1, counts, 3, NULL },
		  { "/b/fast", 2, others, 3, NULL },
		  2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		assert_int_equal(nr_images_of(&rows[i].base, &rows[i].new), rows[i].nr);
}

/* Two libraries with the same name in different directories are not mixed up. */
static void equal_names_in_a_run_stay_apart(void **state)
{
	static const double counts[] = { 10, 5, 2 };
	const struct made_image base[] = { { "/a/lib.so", 1, counts, 3, "f" },
					   { "/b/lib.so", 2, counts, 3, "g" } };
	const struct made_image moved[] = { { "/c/lib.so", 3, counts, 3, "g" },
					    { "/d/lib.so", 4, counts, 3, "f" } };
	struct comparison c = begin(true);

	(void)state;
	add_run(&c, SIDE_BASE, base, 2);
	add_run(&c, SIDE_NEW, moved, 2);
	assert_int_equal(comparison_finish(&c), 0);
	assert_int_equal(c.images.nr, 2);
	/* The functions identify each library. */
	assert_string_equal(strtab_get(&c.strings, c.images.at[0].names[SIDE_NEW]),
			    "/d/lib.so");
	comparison_done(&c);
}

static void rows_have_verdicts(void **state)
{
	static const double counts[][2][5] = {
		{ { 30, 20, 10, 10, 10 }, { 24, 32, 10, 10, 10 } },
		{ { 10, 10, 10, 10, 6 }, { 10, 10, 10, 10, 0 } },
		{ { 10, 10, 10, 10, 0 }, { 10, 10, 10, 10, 6 } },
	};
	static const char *const prefixes[] = { "f", "g", "h" };
	struct comparison c = begin(false);

	(void)state;
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		struct made_image images[3];

		for (size_t i = 0; i < 3; i++)
			images[i] =
				(struct made_image){ prefixes[i], 0, counts[i][side], 5,
						     prefixes[i] };
		add_run(&c, side, images, 3);
	}
	assert_int_equal(comparison_finish(&c), 0);
	assert_int_equal(row_of(&c, "f0")->verdict, VERDICT_FASTER);
	assert_int_equal(row_of(&c, "f1")->verdict, VERDICT_SLOWER);
	assert_int_equal(row_of(&c, "f2")->verdict, VERDICT_NOISE);
	assert_int_equal(row_of(&c, "g4")->verdict, VERDICT_GONE);
	assert_int_equal(row_of(&c, "h4")->verdict, VERDICT_NEW);
	/* The largest change is first. */
	assert_ptr_equal(row_of(&c, "f1"), &c.rows.at[0]);
	for (size_t i = 0; i < c.rows.nr; i++) {
		const struct compare_row *row = &c.rows.at[i];

		assert_true(row->interval.low <= row->change);
		assert_true(row->interval.high >= row->change);
		if (row->verdict != VERDICT_NOISE)
			assert_true(row->interval.low > 0 || row->interval.high < 0);
	}
	comparison_done(&c);
}

/* A function that became slower makes the shares of all others smaller. */
static void diluted_rows_are_noise(void **state)
{
	static const double before[] = { 300, 80, 70, 60, 50, 40, 30, 20, 10, 5 };
	static const double after[] = { 600, 80, 70, 60, 50, 40, 30, 20, 10, 5 };
	const struct made_image base = { "/p", 1, before, COUNT_OF(before), "f" };
	const struct made_image now = { "/p", 2, after, COUNT_OF(after), "f" };
	struct comparison c = begin(false);

	(void)state;
	add_run(&c, SIDE_BASE, &base, 1);
	add_run(&c, SIDE_NEW, &now, 1);
	assert_int_equal(comparison_finish(&c), 0);
	for (size_t i = 0; i < c.rows.nr; i++) {
		const struct compare_row *row = &c.rows.at[i];

		assert_int_equal(row->verdict, i ? VERDICT_NOISE : VERDICT_SLOWER);
	}
	/* The shares of the other functions did change. */
	assert_true(row_of(&c, "f1")->interval.high < 0);
	comparison_done(&c);
}

/* Smaller changes than the least one are noise, however certain they are. */
static void small_changes_are_noise(void **state)
{
	static const double before[] = { 3000, 2000, 1000, 1000 };
	static const double after[] = { 3000, 2100, 1000, 1000 };
	const struct made_image base = { "/p", 1, before, COUNT_OF(before), "f" };
	const struct made_image now = { "/p", 2, after, COUNT_OF(after), "f" };
	const double least[] = { 0, 5 };
	const enum verdict want[] = { VERDICT_SLOWER, VERDICT_NOISE };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(least); i++) {
		struct comparison c = begin(false);

		c.options.least_change = least[i];
		add_run(&c, SIDE_BASE, &base, 1);
		add_run(&c, SIDE_NEW, &now, 1);
		assert_int_equal(comparison_finish(&c), 0);
		assert_int_equal(row_of(&c, "f1")->verdict, want[i]);
		comparison_done(&c);
	}
}

/* Adds samples of f0 to some blocks of the last run. */
static void add_burst(struct comparison *c, uint32_t first, uint32_t nr, double count)
{
	struct compare_run *run = &c->runs.at[c->runs.nr - 1];

	for (uint32_t b = first; b < first + nr; b++) {
		const struct run_cell cell = { 0, b, count };

		assert_true(vec_push(&run->cells, cell));
		run->blocks.at[b] += count;
	}
	run->samples += nr * count;
}

static enum verdict verdict_of_burst(uint32_t first, uint32_t nr, double count)
{
	static const double counts[] = { 10, 20, 20, 20, 20, 10 };
	const struct made_image image = { "/p", 1, counts, COUNT_OF(counts), "f" };
	struct comparison c = begin(false);
	enum verdict v;

	add_run(&c, SIDE_BASE, &image, 1);
	add_run(&c, SIDE_NEW, &image, 1);
	add_burst(&c, first, nr, count);
	assert_int_equal(comparison_finish(&c), 0);
	v = row_of(&c, "f0")->verdict;
	comparison_done(&c);
	return v;
}

static void short_changes_are_transient(void **state)
{
	(void)state;
	assert_int_equal(verdict_of_burst(0, BLOCKS, 10), VERDICT_SLOWER);
	assert_int_equal(verdict_of_burst(20, 5, 200), VERDICT_TRANSIENT);
	assert_int_equal(verdict_of_burst(48, 2, 1), VERDICT_NOISE);
}

/* A function that only the start of the program needs is not transient. */
static void a_slower_phase_is_not_transient(void **state)
{
	static const double counts[] = { 20, 20, 20, 20, 10 };
	static const double none[] = { 0 };
	const struct made_image images[] = { { "/start", 1, none, 1, "s" },
					     { "/p", 2, counts, COUNT_OF(counts),
					       "f" } };
	struct comparison c = begin(false);

	(void)state;
	for (enum compare_side side = 0; side < COMPARE_SIDES; side++) {
		add_run(&c, side, images, 2);
		add_burst(&c, 0, 5, side == SIDE_NEW ? 300 : 100);
	}
	assert_int_equal(comparison_finish(&c), 0);
	assert_int_not_equal(row_of(&c, "s0")->verdict, VERDICT_TRANSIENT);
	comparison_done(&c);
}

/* A function that was split, and one whose remainder is slower. */
static void code_moves_between_functions(void **state)
{
	static const double before[] = { 100, 60, 50, 40, 30, 20, 0, 0 };
	static const double split[] = { 55, 60, 50, 40, 30, 20, 25, 20 };
	static const double slower[] = { 100, 0, 50, 40, 30, 20, 85, 0 };
	const struct made_image base = { "/p", 1, before, COUNT_OF(before), "f" };
	const struct made_image parts = { "/p", 2, split, COUNT_OF(split), "f" };
	const struct made_image more = { "/p", 3, slower, COUNT_OF(slower), "f" };
	struct comparison c = begin(false);

	(void)state;
	add_run(&c, SIDE_BASE, &base, 1);
	add_run(&c, SIDE_NEW, &parts, 1);
	assert_int_equal(comparison_finish(&c), 0);
	assert_int_equal(c.moves.nr, 1);
	assert_true(fabs(c.moves.at[0].change) < 0.01);
	assert_int_equal(row_of(&c, "f0")->verdict, VERDICT_MOVED);
	assert_int_equal(row_of(&c, "f1")->verdict, VERDICT_NOISE);
	comparison_done(&c);

	c = begin(false);
	add_run(&c, SIDE_BASE, &base, 1);
	add_run(&c, SIDE_NEW, &more, 1);
	assert_int_equal(comparison_finish(&c), 0);
	assert_int_equal(row_of(&c, "f1")->verdict, VERDICT_MOVED);
	assert_int_equal(row_of(&c, "f6")->verdict, VERDICT_NEW);
	assert_true(c.moves.at[0].interval.low > 0);
	comparison_done(&c);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(images_are_found_again),
		cmocka_unit_test(equal_names_in_a_run_stay_apart),
		cmocka_unit_test(rows_have_verdicts),
		cmocka_unit_test(diluted_rows_are_noise),
		cmocka_unit_test(small_changes_are_noise),
		cmocka_unit_test(short_changes_are_transient),
		cmocka_unit_test(a_slower_phase_is_not_transient),
		cmocka_unit_test(code_moves_between_functions),
	};

	return UNIT_RUN(cases);
}
