#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resolve/demangle.h"

static void names(void **state)
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
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
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

/* Each parameter is a pair of the one before: the text doubles with every one. */
static void text_that_explodes(void **state)
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

static void nesting_and_length(void **state)
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
	}
	free(name);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(text_that_explodes),
		cmocka_unit_test(nesting_and_length),
	};

	return UNIT_RUN(cases);
}
