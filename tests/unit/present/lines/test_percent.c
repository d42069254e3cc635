/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/array.h"
#include "present/lines/percent.h"

#include <stdio.h>

#include "unit.h"

/* The expected texts are those that OProfile prints. */
static void fields_are_seven_wide(void **state)
{
	static const struct {
		double value;
		const char *want;
	} rows[] = {
		{ 0, "      0" },        { 2.2, " 2.2000" },
		{ 92.32264, "92.3226" }, { 100, "100.000" },
		{ 99.99999, "100.000" }, { 99.9999, "99.9999" },
		{ 99.99994, "99.9999" }, { 10, "10.0000" },
		{ 0.001, " 0.0010" },    { 0.00075, "7.5e-04" },
		{ 0.00099, "9.9e-04" },  { 1e-7, "1.0e-07" },
		{ 0.0529, " 0.0529" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[PERCENT_MAX];

		percent_format(rows[i].value, text);
		assert_string_equal(text, rows[i].want);
	}
}

/* All shares of small totals: values in the middle between two are rounded like printf does. */
static void prints_fields_like_printf(void **state)
{
	(void)state;
	for (uint64_t whole = 1; whole < 700; whole++) {
		for (uint64_t part = 1; part < whole; part++) {
			double value = percent_of(part, whole);
			char text[PERCENT_MAX];
			char want[PERCENT_MAX];

			percent_format(value, text);
			snprintf(want, sizeof(want), "%7.4f", value);
			assert_string_equal(text, want);
		}
	}
}

static void prints_small_fields_like_printf(void **state)
{
	uint64_t dice = 1;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		char text[PERCENT_MAX];
		char want[PERCENT_MAX];
		double value;

		dice = dice * 6364136223846793005ULL + 1442695040888963407ULL;
		/* Small numbers and powers of ten also have values in the middle. */
		value = percent_of(1 + (dice >> 33) % 100,
				   i % 2 ? dice >> (dice % 40) : 1000000000000ULL);
		if (value >= 0.001 || value <= 0)
			continue;
		percent_format(value, text);
		snprintf(want, sizeof(want), "%7.1e", value);
		assert_string_equal(text, want);
	}
}

static void a_share_of_zero_is_zero(void **state)
{
	(void)state;
	assert_true(percent_of(0, 0) == 0);
	assert_true(percent_of(1, 4) == 25);
	assert_true(percent_of(UINT64_MAX, UINT64_MAX) == 100);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(fields_are_seven_wide),
		cmocka_unit_test(prints_fields_like_printf),
		cmocka_unit_test(prints_small_fields_like_printf),
		cmocka_unit_test(a_share_of_zero_is_zero),
	};

	return UNIT_RUN(cases);
}
