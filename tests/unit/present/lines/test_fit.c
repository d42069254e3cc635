/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests widths of columns, calculated by hand. */
#include "base/array.h"
#include "present/lines/fit.h"

#include "unit.h"

enum {
	MAX_COLUMNS = 5
};

struct row {
	unsigned int width;
	size_t nr;
	struct fit_column columns[MAX_COLUMNS]; /* their width is the expected one */
};

static void computes_column_widths(void **state)
{
	static const struct row rows[] = {
		/* The widths of the layout fit; the last column keeps its length. */
		{ 80, 3, { { 7, 9, 0, 9 }, { 10, 25, 1, 25 }, { 46, 30, 2, 46 } } },
		/* One character too few: the second column gives up a blank. */
		{ 79, 3, { { 7, 9, 0, 9 }, { 10, 25, 1, 24 }, { 46, 30, 2, 46 } } },
		/* Columns have exactly the width of their content. */
		{ 65, 3, { { 7, 9, 0, 8 }, { 10, 25, 1, 11 }, { 46, 30, 2, 46 } } },
		/* A cell that is longer than its column. */
		{ 80, 3, { { 7, 9, 0, 9 }, { 40, 25, 1, 41 }, { 20, 30, 2, 20 } } },
		/* The longer name is shortened: 64 - 8 - 11. */
		{ 64, 3, { { 7, 9, 0, 8 }, { 10, 25, 1, 11 }, { 46, 30, 2, 45 } } },
		/* Both are shortened: 61 without the number and the blanks, 7 for each, and the
		 * remaining 47 in the ratio 1 : 2. */
		{ 70, 3, { { 7, 9, 0, 8 }, { 99, 25, 1, 23 }, { 99, 30, 2, 39 } } },
		/* 60 without numbers and blanks, 7 for each: the first needs one more, and the
		 * others share 38 in the ratio 1 : 2. */
		{ 80,
		  5,
		  { { 8, 9, 0, 9 },
		    { 8, 9, 0, 9 },
		    { 8, 25, 1, 9 },
		    { 60, 25, 1, 20 },
		    { 60, 30, 2, 33 } } },
		/* There is no room at all: names get the minimum, numbers all they need. */
		{ 10, 3, { { 7, 9, 0, 8 }, { 99, 25, 1, 8 }, { 5, 30, 2, 5 } } },
		{ 80, 1, { { 0, 9, 1, 1 } } },
		{ 0, 0, { { 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct row row = rows[i];

		for (size_t c = 0; c < row.nr; c++)
			row.columns[c].width = 77;
		fit_columns(row.columns, row.nr, row.width);
		for (size_t c = 0; c < row.nr; c++)
			assert_int_equal(row.columns[c].width,
					 rows[i].columns[c].width);
	}
}

/* If the minimum for names fits, everything fits; numbers are never shortened. */
static void everything_fits(void **state)
{
	uint32_t dice = 1;

	(void)state;
	for (int n = 0; n < 20000; n++) {
		struct fit_column c[MAX_COLUMNS] = { 0 };
		unsigned int least = 0;
		unsigned int sum = 0;
		unsigned int width;

		for (size_t i = 0; i < MAX_COLUMNS; i++) {
			dice = dice * 1664525 + 1013904223;
			c[i].natural = 1 + (dice >> 16) % 60;
			c[i].usual = 9;
			c[i].weight = (dice >> 24) % 3;
			least += 1 + (c[i].weight && c[i].natural > FIT_LEAST
					      ? FIT_LEAST
					      : c[i].natural);
		}
		width = (dice >> 8) % 300;
		fit_columns(c, MAX_COLUMNS, width);
		for (size_t i = 0; i < MAX_COLUMNS; i++) {
			assert_true(c[i].weight || c[i].width >= c[i].natural);
			sum += c[i].width;
		}
		if (least <= width)
			assert_true(sum <= width);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(computes_column_widths),
		cmocka_unit_test(everything_fits),
	};

	return UNIT_RUN(cases);
}
