/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests execution counts of code from overlapping runs. */
#include "aggregate/count/code_counts.h"
#include "unit.h"

static void add_run(struct code_counts *c, uint32_t image, uint64_t from, uint64_t to,
		    unsigned int times)
{
	uint32_t a = code_counts_position(c, image, from);
	uint32_t b = code_counts_position(c, image, to);

	while (times--)
		assert_int_equal(code_counts_run(c, a, b), 0);
}

static void check(const struct code_counts *c, uint32_t image,
		  const struct code_stretch *wanted, size_t nr)
{
	code_stretch_vec got = { 0 };

	assert_int_equal(code_counts_stretches(c, image, &got), 0);
	assert_int_equal(got.nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(got.at[i].first, wanted[i].first);
		assert_int_equal(got.at[i].last, wanted[i].last);
		assert_int_equal(got.at[i].count, wanted[i].count);
	}
	vec_done(&got);
}

static void merges_overlapping_runs_of_code(void **state)
{
	static const struct code_stretch of_one[] = {
		{ 10, 19, 3 }, { 20, 30, 5 }, { 31, 40, 2 }, { 50, 50, 1 }
	};
	static const struct code_stretch of_other[] = { { 0, 7, 1 } };
	struct code_counts c = { 0 };

	(void)state;
	add_run(&c, 1, 10, 30, 3);
	add_run(&c, 1, 20, 40, 2);
	add_run(&c, 1, 50, 50, 1);
	add_run(&c, 1, 60, 59, 7); /* damaged: the end is before the start */
	add_run(&c, 0, 0, 7, 1);
	check(&c, 1, of_one, 4);
	check(&c, 0, of_other, 1);
	check(&c, 2, NULL, 0);
	code_counts_done(&c);
}

static void counts_branches(void **state)
{
	struct code_counts c = { 0 };
	uint32_t a = code_counts_position(&c, 0, 5);
	uint32_t b = code_counts_position(&c, 3, 5);

	(void)state;
	assert_int_not_equal(a, b);
	assert_int_equal(code_counts_position(&c, 0, 5), a);
	assert_int_equal(code_counts_branch(&c, a, b, true), 0);
	assert_int_equal(code_counts_branch(&c, a, b, false), 0);
	assert_int_equal(code_counts_branch(&c, b, a, false), 0);
	assert_int_equal(c.branches.nr, 2);
	assert_int_equal(c.branches.at[0].count, 2);
	assert_int_equal(c.branches.at[0].mispredicted, 1);
	code_counts_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_overlapping_runs_of_code),
		cmocka_unit_test(counts_branches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
