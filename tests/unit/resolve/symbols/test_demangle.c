/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "resolve/symbols/demangle.h"

static void demangles_names(void **state)
{
	static const struct {
		const char *mangled;
		const char *shown; /* NULL: not mangled */
	} cases[] = {
		{ "main", NULL },
		{ "", NULL },
		{ "f", NULL },
		{ "_Z", NULL },
		{ "_start", NULL },
		{ "_Z3fooi", "foo(int)" },
		{ "_ZN3foo3barEPKc", "foo::bar(char const*)" },
		{ "_ZNK1A1fEv", "A::f() const" },
		{ "_Z1fi.cold", "f(int) [clone .cold]" },
		{ "_Z1fi.constprop.0.isra.1",
		  "f(int) [clone .constprop.0] [clone .isra.1]" },
		{ "foo.part.0", NULL },
		{ "_ZN1AC2Ev@@V1", "A::A()@@V1" },
		{ "_GLOBAL__I_main", "global constructors keyed to main" },
		{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
		  "core::fmt::Formatter::pad" },
		{ "_RNvCs1234_7mycrate3foo", "mycrate::foo" },
		{ "_RNvNtCsjrHSEGnQ3l9_3std2rt10lang_start", "std::rt::lang_start" },
		{ "_RNvNtCsjrHSEGnQ3l9_3std2rt3run.llvm.77", "std::rt::run" },
		{ "_RINvC1a1fFG_RL0_hEuE", "a::f::<for<'a> fn(&'a u8)>" },
		{ "_RINvC1a1fDG_NtC1b1TL_EE", NULL }, /* the lifetime is missing */
		{ "_D4test3fooAa", "test.foo" },
		{ "_D4test3fooFAaZv", "test.foo(char[])" },
		{ "_D4test3fooFAaQcZv", "test.foo(char[], char[])" },
		{ "_D4test3fooFAaZv.localalias",
		  "test.foo(char[]) [clone .localalias]" },
		{ "_D4test3fooFiZv.part.0.12.cold",
		  "test.foo(int) [clone .part.0.12] [clone .cold]" },
		{ "_Dmain", "D main" },
		{ "_D", NULL },
		{ "_Dynamic", NULL },
		{ "_ZN4java4lang6StringC1EJvv", "java.lang.String.String()" },
		{ "_ZN4java4lang6String6charAtEJwi", "java.lang.String.charAt(int)" },
		{ "Ljava/lang/String;charAt(I)C", "java.lang.String.charAt(int)" },
		{ "La/B;<init>([[JLc/D;Z)V", "a.B.<init>(long[][], c.D, boolean)" },
		{ "LB;f()[Ljava/lang/Object;", "B.f()" },
		{ "LB;f()", NULL },
		{ "LB;f(V)V", NULL },
		{ "LB;f(I)VV", NULL },
		{ "LB;f([)V", NULL },
		{ "L;f()V", NULL },
		{ "LB;()V", NULL },
		{ "LB;f(LC)V", NULL },
		{ "LZ4_compress", NULL },
		{ "camlDune__exe__Main__loop_298", "Dune.exe.Main.loop_298" },
		{ "camlStdlib__$40_195", "Stdlib.@_195" },
		{ "camlDune__exe__Main.loop_298", "Dune.exe.Main.loop_298" },
		{ "camlFloat$2b.$2b$2E_7_code", "Float+.+._7_code" },
		{ "camlM.c$c3$a9_1", "M.c\xc3\xa9_1" },
		{ "camlM__f_1.cold", "M.f_1.cold" },
		/* Not an escape, or one of a control character. */
		{ "camlM__f$0a_$7f_$00_$g0_$4", "M.f$0a_$7f_$00_$g0_$4" },
		{ "caml_alloc_small", NULL },
		{ "caml", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *shown = demangle(cases[i].mangled);

		if (!cases[i].shown)
			assert_null(shown);
		else if (!shown)
			fail_msg("%s is not read", cases[i].mangled);
		else
			assert_string_equal(shown, cases[i].shown);
		free(shown);
	}
}

/* Each parameter is a pair of the previous one: the text doubles with every one. */
static void limits_the_length_of_names(void **state)
{
	char name[1024] = "_Z1f1AI1BS_E";

	(void)state;
	for (int i = 0; i < 60; i++) {
		size_t len = strlen(name);
		char digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36];
		const char *turn = i < 36 ? "" : "1";

		snprintf(name + len, sizeof(name) - len, "S_IS%s%c_S%s%c_E", turn,
			 digit, turn, digit);
	}
	free(demangle(name));
}

static void limits_nesting_and_length(void **state)
{
	enum {
		LEN = 9000
	};
	char *name = malloc(LEN + 1);

	(void)state;
	for (size_t len = 500; len <= LEN; len += 500) {
		memset(name, 'P', len);
		memcpy(name, "_Z1f", 4);
		name[len - 1] = 'i';
		name[len] = '\0';
		free(demangle(name));
		memcpy(name, "_RYC", 4);
		memset(name + 4, 'R', len - 4);
		free(demangle(name));
		memcpy(name, "_D1f", 4);
		memset(name + 4, 'P', len - 4);
		free(demangle(name));
	}
	free(name);
}

/* "G" and a number mean that many lifetimes, each of which libiberty counts. */
static void limits_binders_of_rust(void **state)
{
	static const struct {
		const char *name;
		bool is_read;
	} cases[] = {
		{ "_RINvC1a1fFG10_EuE", true },        /* 64 */
		{ "_RINvC1a1fFGzz_EuE", false },       /* 2207 */
		{ "_RINvC1a1fFGfe_EFGfe_EuE", false }, /* twice 946 */
		{ "_RINvC1a1fFGzzzzzzzzzzzz_EuE", false },
		{ "_RNvC1a9Gzzzzzzz_", true }, /* in an identifier */
		/* The same identifier, and a type that refers into it. */
		{ "_RINvC1a14FGzzzzzzzz_EuxB7_E", false },
		{ "_RINvC1a14FGzzzzzzzz_EuxE", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *shown = demangle(cases[i].name);

		if (!shown != !cases[i].is_read)
			fail_msg("%s: %s", cases[i].name, shown);
		free(shown);
	}
}

/* Each parameter of a D function contains the previous one twice, by reference. */
static void limits_back_references_of_d(void **state)
{
	char name[1024] = "_D1fFHii";
	size_t before = strlen(name) - 3;
	char *shown;

	(void)state;
	for (int i = 0; i < 60; i++) {
		size_t at = strlen(name);

		snprintf(name + at, sizeof(name) - at, "HQ%cQ%c",
			 (char)('a' + at + 1 - before), (char)('a' + at + 3 - before));
		before = at;
		if (i == 2) {
			memcpy(name + strlen(name), "Zv", 3);
			shown = demangle(name);
			assert_string_equal(
				shown, "f(int[int], int[int][int[int]], "
				       "int[int][int[int]][int[int][int[int]]], "
				       "int[int][int[int]][int[int][int[int]]]"
				       "[int[int][int[int]][int[int][int[int]]]])");
			free(shown);
			name[strlen(name) - 2] = '\0';
		}
	}
	assert_null(demangle(strcat(name, "Zv")));
}

static void leaves_names_that_perf_does_not_demangle(void **state)
{
	char *shown = demangle_plain("LB;f(I)V");

	(void)state;
	assert_string_equal(shown, "B.f(int)");
	free(shown);
	assert_null(demangle_plain("_D4test3fooFAaZv"));
	shown = demangle_plain("_ZN4java4lang6StringC1EJvv");
	assert_string_equal(shown, "java::lang::String::String");
	free(shown);
	shown = demangle_plain("camlM__f_1");
	assert_string_equal(shown, "M.f_1");
	free(shown);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(demangles_names),
		cmocka_unit_test(limits_the_length_of_names),
		cmocka_unit_test(limits_nesting_and_length),
		cmocka_unit_test(limits_binders_of_rust),
		cmocka_unit_test(limits_back_references_of_d),
		cmocka_unit_test(leaves_names_that_perf_does_not_demangle),
	};

	return UNIT_RUN(cases);
}
