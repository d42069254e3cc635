/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/comma.h"

#include <stdlib.h>

#include "unit.h"

static void expect_values(const char *text, const char *const *values)
{
	for (; *values; values++) {
		char *value;

		assert_non_null(text);
		value = comma_next(&text);
		assert_string_equal(value, *values);
		free(value);
	}
	assert_null(text);
}

static void splits_at_commas(void **state)
{
	(void)state;
	expect_values("", (const char *const[]){ "", NULL });
	expect_values("a", (const char *const[]){ "a", NULL });
	expect_values("a,bc,,d,",
		      (const char *const[]){ "a", "bc", "", "d", "", NULL });
}

static void a_comma_can_be_escaped(void **state)
{
	(void)state;
	expect_values("f(int\\, char),g",
		      (const char *const[]){ "f(int, char)", "g", NULL });
	expect_values("a\\b,\\", (const char *const[]){ "a\\b", "\\", NULL });
	expect_values("\\,", (const char *const[]){ ",", NULL });
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(splits_at_commas),
		cmocka_unit_test(a_comma_can_be_escaped),
	};

	return UNIT_RUN(cases);
}
