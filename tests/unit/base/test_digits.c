/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"

static void check(uint64_t v)
{
	char want[DIGITS_ROOM], got[DIGITS_ROOM + 1], back[DIGITS_MAX];
	size_t nr = (size_t)snprintf(want, sizeof(want), "%" PRIu64, v);

	memset(got, '?', sizeof(got));
	assert_int_equal(digits_put(got, v), nr);
	assert_memory_equal(got, want, nr);
	assert_int_equal(got[DIGITS_ROOM], '?');
	assert_int_equal(digits_of(back, v), nr);
	assert_memory_equal(back + DIGITS_MAX - nr, want, nr);
}

static void digits_agree_with_printf(void **state)
{
	(void)state;
	for (uint64_t v = 0; v < 20000; v++)
		check(v);
	for (uint64_t power = 1, last = 0; power > last; last = power, power *= 10) {
		for (uint64_t near = 0; near < 3; near++)
			check(power + near - 1);
		if (power > UINT64_MAX / 10)
			break;
	}
	check(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(digits_agree_with_printf),
	};

	return cmocka_run_group_tests(cases, NULL, NULL);
}
