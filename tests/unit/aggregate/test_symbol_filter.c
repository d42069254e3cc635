#include "aggregate/symbol_filter.h"

#include "unit.h"

static void nothing_is_left_out_unasked(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_false(symbol_filter_filters(NULL));
	assert_false(symbol_filter_filters(&f));
	assert_true(symbol_filter_wants(&f, "main"));
	symbol_filter_done(&f);
}

static void names_are_compared_whole(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_int_equal(symbol_filter_exclude(&f, "main,mid"), 0);
	assert_int_equal(symbol_filter_exclude(&f, "a*"), 0);
	assert_true(symbol_filter_filters(&f));
	assert_false(symbol_filter_wants(&f, "main"));
	assert_false(symbol_filter_wants(&f, "mid"));
	assert_true(symbol_filter_wants(&f, "mai"));
	assert_true(symbol_filter_wants(&f, "main2"));
	assert_true(symbol_filter_wants(&f, "abc"));
	assert_false(symbol_filter_wants(&f, "a*"));
	symbol_filter_done(&f);
}

static void raw_and_demangled_names_count(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_int_equal(symbol_filter_include(&f, "turn(char const*\\, int),_Z3onei"),
			 0);
	assert_true(symbol_filter_wants(&f, "_Z4turnPKci"));
	assert_true(symbol_filter_wants(&f, "_Z3onei"));
	assert_false(symbol_filter_wants(&f, "_Z3twoi"));
	assert_int_equal(symbol_filter_exclude(&f, "one(int)"), 0);
	assert_false(symbol_filter_wants(&f, "_Z3onei"));
	symbol_filter_done(&f);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(nothing_is_left_out_unasked),
		cmocka_unit_test(names_are_compared_whole),
		cmocka_unit_test(raw_and_demangled_names_count),
	};

	return UNIT_RUN(cases);
}
