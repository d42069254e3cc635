/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/names.h"

#include "base/array.h"
#include "unit.h"

#include <string.h>

static void suffixes_of_compilers_are_removed(void **state)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "f", "f" },
		{ "f.constprop.0", "f" },
		{ "f.part.0.isra.0", "f" },
		{ "f.constprop.0.cold", "f" },
		{ "f.cold", "f" },
		{ ".cold", ".cold" },
		{ "f.llvm.1234", "f" },
		{ "f.lto_priv.7", "f" },
		{ "ns::f(int) [clone .isra.0]", "ns::f(int)" },
		{ "a::b::h0123456789abcdef", "a::b" },
		{ "a::b::h0123456789abcdeg", "a::b::h0123456789abcdeg" },
		{ "::h0123456789abcdef", "::h0123456789abcdef" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const size_t len = name_stable_len(rows[i].name);

		assert_int_equal(len, strlen(rows[i].want));
		assert_memory_equal(rows[i].name, rows[i].want, len);
	}
}

static void addresses_are_no_names(void **state)
{
	(void)state;
	assert_true(name_is_function("main"));
	assert_true(name_is_function("(anonymous namespace)::f()"));
	assert_false(name_is_function(""));
	assert_false(name_is_function("0x401000"));
	assert_false(name_is_function("(no symbols)"));
	assert_false(name_is_function("anonymous symbol from section .plt"));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(suffixes_of_compilers_are_removed),
		cmocka_unit_test(addresses_are_no_names),
	};

	return UNIT_RUN(cases);
}
