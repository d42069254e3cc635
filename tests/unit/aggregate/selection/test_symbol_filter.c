/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "aggregate/selection/symbol_filter.h"

#include "aggregate/selection/spec.h"

#include "unit.h"

static void an_empty_filter_keeps_everything(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_false(symbol_filter_filters(NULL, NULL));
	assert_false(symbol_filter_filters(&f, NULL));
	assert_true(symbol_filter_wants(&f, NULL, "main"));
	symbol_filter_done(&f);
}

static void compares_complete_names(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_int_equal(symbol_filter_exclude(&f, "main,mid"), 0);
	assert_int_equal(symbol_filter_exclude(&f, "a*"), 0);
	assert_true(symbol_filter_filters(&f, NULL));
	assert_false(symbol_filter_wants(&f, NULL, "main"));
	assert_false(symbol_filter_wants(&f, NULL, "mid"));
	assert_true(symbol_filter_wants(&f, NULL, "mai"));
	assert_true(symbol_filter_wants(&f, NULL, "main2"));
	assert_true(symbol_filter_wants(&f, NULL, "abc"));
	assert_false(symbol_filter_wants(&f, NULL, "a*"));
	symbol_filter_done(&f);
}

static void matches_raw_and_demangled_names(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_int_equal(symbol_filter_include(&f, "turn(char const*\\, int),_Z3onei"),
			 0);
	assert_true(symbol_filter_wants(&f, NULL, "_Z4turnPKci"));
	assert_true(symbol_filter_wants(&f, NULL, "_Z3onei"));
	assert_false(symbol_filter_wants(&f, NULL, "_Z3twoi"));
	assert_int_equal(symbol_filter_exclude(&f, "one(int)"), 0);
	assert_false(symbol_filter_wants(&f, NULL, "_Z3onei"));
	symbol_filter_done(&f);
}

static void symbol_versions_are_optional(void **state)
{
	struct symbol_filter f = { 0 };

	(void)state;
	assert_int_equal(symbol_filter_include(&f, "read,write@V1,f()"), 0);
	assert_true(symbol_filter_wants(&f, NULL, "read"));
	assert_true(symbol_filter_wants(&f, NULL, "read@@V2"));
	assert_true(symbol_filter_wants(&f, NULL, "read@V1"));
	assert_false(symbol_filter_wants(&f, NULL, "read@plt"));
	assert_false(symbol_filter_wants(&f, NULL, "reader@V1"));
	assert_false(symbol_filter_wants(&f, NULL, "rea@V1"));
	assert_true(symbol_filter_wants(&f, NULL, "write@V1"));
	assert_false(symbol_filter_wants(&f, NULL, "write"));
	assert_false(symbol_filter_wants(&f, NULL, "write@@V2"));
	assert_true(symbol_filter_wants(&f, NULL, "_Z1fv@V1"));
	symbol_filter_done(&f);
}

static void a_specification_restricts_further(void **state)
{
	struct symbol_filter f = { 0 };
	struct spec spec = { 0 };

	(void)state;
	assert_false(symbol_filter_filters(&f, &spec));
	assert_int_equal(spec_add(&spec, "symbol:turn*,main,mid", NULL), 0);
	assert_true(symbol_filter_filters(&f, &spec));
	assert_true(symbol_filter_filters(NULL, &spec));
	assert_int_equal(symbol_filter_exclude(&f, "mid"), 0);
	assert_true(symbol_filter_wants(&f, &spec, "_Z4turnPKci"));
	assert_true(symbol_filter_wants(NULL, &spec, "_Z4turnPKci"));
	assert_true(symbol_filter_wants(&f, &spec, "main"));
	assert_false(symbol_filter_wants(&f, &spec, "mid"));
	assert_true(symbol_filter_wants(NULL, &spec, "mid"));
	assert_false(symbol_filter_wants(&f, &spec, "_Z3onei"));
	spec_done(&spec);
	symbol_filter_done(&f);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(an_empty_filter_keeps_everything),
		cmocka_unit_test(compares_complete_names),
		cmocka_unit_test(matches_raw_and_demangled_names),
		cmocka_unit_test(symbol_versions_are_optional),
		cmocka_unit_test(a_specification_restricts_further),
	};

	return UNIT_RUN(cases);
}
